#include "child.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include <tessera/core/base/error.h>

/// What the address sanitizer finds ends in a signal too, whose place can be told.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:allocator_may_return_null=1";
}

namespace tessera::fuzz {
namespace {

constexpr unsigned kSeconds = 2;
constexpr int kFirstCode = 100;  // below are those that other code ends a process with

bool lies_in(const void* address, const char* library) {
  Dl_info info;
  return ::dladdr(address, &info) != 0 && std::strstr(info.dli_fname, library) != nullptr;
}

/// Frames of the C library count as those of their caller. The first of them is where the signal
/// came in; before it are ours.
ChildEnd place_of_crash() {
  std::array<void*, 64> frames;
  const auto count =
      static_cast<std::size_t>(::backtrace(frames.data(), static_cast<int>(frames.size())));
  std::size_t i = 0;
  while (i < count && !lies_in(frames[i], "libc.so")) {
    ++i;
  }
  for (; i < count; ++i) {
    if (lies_in(frames[i], "libhdf5")) {
      return ChildEnd::crashed_in_hdf5;
    }
    if (lies_in(frames[i], "libtessera") || lies_in(frames[i], "test_fuzz")) {
      return ChildEnd::crashed_elsewhere;
    }
  }
  return ChildEnd::crashed_elsewhere;
}

[[noreturn]] void end_with(ChildEnd end) {
  ::_exit(kFirstCode + static_cast<int>(end));
}

void end_after_crash(int /*signal*/) {
  end_with(place_of_crash());
}

[[noreturn]] void run(const std::function<void()>& body) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) {
    std::signal(signal, end_after_crash);
  }
  ::alarm(kSeconds);  // ends it: the thread sanitizer would keep a handler waiting for a call
  ChildEnd end = ChildEnd::returned;
  try {
    body();
  } catch (const std::exception&) {
    end = ChildEnd::threw;
  }
  end_with(end);
}

}  // namespace

ChildEnd run_in_child(const std::function<void()>& body) {
  std::array<void*, 1> frame;
  (void)::backtrace(frame.data(), 1);  // loads what the handler needs
  const ::pid_t child = ::fork();
  check<RuntimeError>(child >= 0, "fork: ", std::strerror(errno));
  if (child == 0) {
    run(body);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return ChildEnd::hung;
  }
  const bool ours = WIFEXITED(status) && WEXITSTATUS(status) >= kFirstCode;
  return ours ? static_cast<ChildEnd>(WEXITSTATUS(status) - kFirstCode)
              : ChildEnd::crashed_elsewhere;
}

std::string hdf5_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  (void)H5get_libversion(&major, &minor, &release);
  return tessera::detail::concat("libhdf5 ", major, '.', minor, '.', release);
}

}  // namespace tessera::fuzz
