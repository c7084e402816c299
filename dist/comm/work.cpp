#include <tessera/dist/comm/work.h>

#include <tessera/core/base/error.h>

namespace tessera::dist {

void Work::wait() const {
  if (state_ == nullptr) {
    return;
  }
  state_->wait_until(Time::max());
  if (const std::exception_ptr error = state_->error()) {
    std::rethrow_exception(error);
  }
}

void Work::wait(Duration timeout) const {
  if (state_ == nullptr) {
    return;
  }
  const Time now = clock().now();
  const bool done = state_->wait_until(timeout < Time::max() - now ? now + timeout : Time::max());
  check<Timeout>(done, "wait: the collective is still under way; got a deadline of ",
                 std::chrono::duration<double>(timeout).count(), " s");
  if (const std::exception_ptr error = state_->error()) {
    std::rethrow_exception(error);
  }
}

std::chrono::nanoseconds Work::duration() const {
  return state_ == nullptr ? std::chrono::nanoseconds{0} : state_->duration();
}

}  // namespace tessera::dist
