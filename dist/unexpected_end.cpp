#include <tessera/dist/unexpected_end.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

std::atomic<UnexpectedEnd*> newest{nullptr};
std::atomic<pid_t> process{0};
std::terminate_handler previous = nullptr;

}  // namespace

UnexpectedEnd::UnexpectedEnd(std::function<void(const std::exception_ptr&)> failed,
                             std::function<void()> exits)
    : failed_(std::move(failed)), exits_(std::move(exits)) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    previous = std::set_terminate(at_terminate);
    std::atexit(at_exit);
    std::at_quick_exit(at_exit);
  });
  process = getpid();
  newest = this;
}

UnexpectedEnd::~UnexpectedEnd() {
  UnexpectedEnd* self = this;
  newest.compare_exchange_strong(self, nullptr);
}

/// Null when nobody is to be told, or no more.
UnexpectedEnd* UnexpectedEnd::take() {
  return process == getpid() ? newest.exchange(nullptr) : nullptr;
}

void UnexpectedEnd::at_exit() {
  if (const UnexpectedEnd* end = take(); end != nullptr) {
    const auto exits = end->exits_;  // which may destroy `end`
    exits();
  }
}

void UnexpectedEnd::at_terminate() {
  std::exception_ptr error = std::current_exception();
  if (const UnexpectedEnd* end = take(); end != nullptr) {
    if (error == nullptr) {
      error = std::make_exception_ptr(InternalError("world: std::terminate was called"));
    }
    end->failed_(error);
  }
  previous();
  std::abort();
}

}  // namespace tessera::dist
