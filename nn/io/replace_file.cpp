#include <tessera/nn/io/replace_file.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <exception>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/philox.h>

namespace tessera::nn {
namespace {

constexpr std::string_view kEnding = ".new";
constexpr std::size_t kLongestName = 200;  // of the 255 bytes that file systems have for a name

/// How names of files that this host's processes write for the file `name` begin.
std::string beginning_of(const std::string& name) {
  std::array<char, 256> host{};
  std::array<char, 64> numbering{};  // of processes: containers on one host have their own
  ::gethostname(host.data(), host.size() - 1);
  static_cast<void>(::readlink("/proc/self/ns/pid", numbering.data(), numbering.size() - 1) > 0);
  const std::uint64_t place = mix(hash_name(host.data()), hash_name(numbering.data()));
  return tessera::detail::concat('.', name.substr(0, kLongestName), '.', place % 100000, '.');
}

/// A name that begins with a dot and is nobody else's: all ranks may save one path at once, and the
/// last one's file stays.
std::string fresh_name(const std::string& name) {
  static std::atomic<int> count = 0;
  return tessera::detail::concat(beginning_of(name), ::getpid(), '.', ++count, kEnding);
}

bool is_left_over(const std::string& entry, const std::string& beginning) {
  if (!entry.starts_with(beginning) || !entry.ends_with(kEnding)) {
    return false;
  }
  int process = 0;
  const char* number = entry.data() + beginning.size();
  const auto [end, error] = std::from_chars(number, entry.data() + entry.size(), process);
  return error == std::errc() && *end == '.' && ::kill(process, 0) != 0 && errno == ESRCH;
}

/// Removes the file if possible: what made that necessary is what callers must hear of.
void try_to_remove(const std::string& path) {
  try {
    file_system().remove_file(path);
  } catch (const IoError&) {
  }
}

/// Removes what processes of this host that are no more wrote for the file `name`.
void remove_left_over(const std::string& folder, const std::string& name) {
  const std::string beginning = beginning_of(name);
  for (const DirectoryEntry& entry : file_system().list(folder)) {
    if (is_left_over(entry.name, beginning)) {
      try_to_remove(join_path(folder, entry.name));
    }
  }
}

}  // namespace

void replace_file(const std::string& path,
                  const std::function<void(const std::string& fresh)>& write) {
  const std::string name = path.substr(path.rfind('/') + 1);
  check<IoError>(!name.empty(), "save: '", path, "' names no file");
  const std::string folder = parent_path(path);
  make_directories(folder);
  remove_left_over(folder, name);
  const std::string fresh = join_path(folder, fresh_name(name));
  try {
    write(fresh);
    file_system().rename(fresh, path);
  } catch (const std::exception&) {
    try_to_remove(fresh);
    throw;
  }
  file_system().sync_directory(folder);
}

}  // namespace tessera::nn
