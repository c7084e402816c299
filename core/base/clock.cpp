#include <tessera/core/base/clock.h>

#include <atomic>
#include <thread>

namespace tessera {
namespace {

Clock& real_clock() {
  static auto* const real = new RealClock;  // never destroyed: threads may outlive statics
  return *real;
}

constinit std::atomic<Clock*> replaced_clock = nullptr;

}  // namespace

Time RealClock::now() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::wall_time() const {
  return std::chrono::system_clock::now();
}

void RealClock::sleep_until(Time time) {
  std::this_thread::sleep_until(time);
}

bool RealClock::wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                           Time deadline) {
  return condition.wait_until(lock, deadline) == std::cv_status::no_timeout;
}

Clock& clock() {
  Clock* const replaced = replaced_clock.load(std::memory_order_acquire);
  return replaced == nullptr ? real_clock() : *replaced;
}

ClockScope::ClockScope(Clock& replacement) : previous_(replaced_clock.exchange(&replacement)) {}

ClockScope::~ClockScope() {
  replaced_clock.store(previous_);
}

}  // namespace tessera
