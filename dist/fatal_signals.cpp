#include <tessera/dist/fatal_signals.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

struct FatalSignal {
  int number;
  std::string_view name;
  std::string_view reason;  ///< where the kernel, or for SIGABRT the process itself, sent it
};

constexpr std::array kSignals{
    FatalSignal{SIGSEGV, "SIGSEGV", ": it used memory that is not its own"},
    FatalSignal{SIGBUS, "SIGBUS", ": it used memory behind which there is nothing"},
    FatalSignal{SIGFPE, "SIGFPE", ": it divided a whole number by zero"},
    FatalSignal{SIGILL, "SIGILL", ": this CPU does not have the instruction"},
    FatalSignal{SIGABRT, "SIGABRT", ": it called abort()"}};

// What the handler reads: a handler may neither allocate nor wait for a lock.
std::atomic<pid_t> process{0};
std::atomic<const HeartbeatCell*> own_cell{nullptr};
std::array<char, 300> beginning{};  ///< "[rank 1] world: rank 1 (host a"
std::atomic<pid_t> speaker{0};      ///< the thread that prints the sentence

/// A line made without memory from the heap; what does not fit is cut off.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t length = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), length);
    size_ += length;
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void print() const {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 600> text_{};
  std::size_t size_ = 0;
};

/// ", its last is 16, broadcast 'weights'"
void describe(Line& line, const HeartbeatCell& cell) {
  if (const std::uint64_t launched = cell.launched.load(); launched > 0) {
    line << ", its last is " << launched << ", "
         << to_string(static_cast<CollectiveKind>(cell.kind.load()));
    if (const auto label = cell.label.characters(); label[0] != '\0') {
      line << " '" << label.data() << "'";
    }
  }
  if (cell.busy.load() > 0) {
    line << ", busy: " << cell.activity.characters().data();
  }
}

void say(int signal, const siginfo_t& info) {
  Line line;
  line << beginning.data();
  if (const HeartbeatCell* cell = own_cell.load(); cell != nullptr) {
    describe(line, *cell);
  }
  line << ") is ended by ";
  for (const FatalSignal& known : kSignals) {
    if (known.number == signal) {
      const bool own = info.si_code > 0 || (signal == SIGABRT && info.si_pid == getpid());
      line << known.name << (own ? known.reason : "");
    }
  }
  line << "\n";
  line.print();
}

/// The signal comes again, with all that it told, once its handler has returned.
void let_it_end(int signal, siginfo_t* info) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info) != 0) {
    raise(signal);
  }
}

void at_signal(int signal, siginfo_t* info, void* /*registers*/) {
  const int error = errno;
  pid_t nobody = 0;
  if (getpid() == process.load()) {
    if (speaker.compare_exchange_strong(nobody, gettid())) {
      say(signal, *info);
    } else if (nobody != gettid()) {  // a fault that several threads share is told once
      while (true) {
        pause();
      }
    }
  }
  let_it_end(signal, info);
  errno = error;
}

/// A stack that is full has no room for a handler: this thread's handlers get one of their own.
void give_handlers_a_stack() {
  static std::array<std::byte, std::size_t{64} << 10> room;
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
    stack_t own{};
    own.ss_sp = room.data();
    own.ss_size = room.size();
    sigaltstack(&own, nullptr);
  }
}

void install() {
  give_handlers_a_stack();
  for (const FatalSignal& known : kSignals) {
    struct sigaction now {};
    const bool free = sigaction(known.number, nullptr, &now) == 0 &&
                      (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (free) {
      struct sigaction own {};
      own.sa_sigaction = at_signal;
      own.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigaction(known.number, &own, nullptr);
    }
  }
}

}  // namespace

FatalSignals::FatalSignals(std::shared_ptr<HeartbeatTable> table, const std::string& host)
    : table_(std::move(table)) {
  const std::string text = detail::concat(
      table_->size() > 1 ? detail::concat("[rank ", table_->rank(), "] ") : "", "world: rank ",
      table_->rank(), " (host ", host.substr(0, beginning.size() / 2));
  beginning[text.copy(beginning.data(), beginning.size() - 1)] = '\0';
  own_cell = &table_->own();
  process = getpid();
  static std::once_flag installed;
  std::call_once(installed, install);
}

FatalSignals::~FatalSignals() {
  own_cell = nullptr;
}

}  // namespace tessera::dist
