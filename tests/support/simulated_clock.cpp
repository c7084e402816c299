#include "support/simulated_clock.h"

#include <algorithm>

#include <tessera/core/base/error.h>

namespace tessera {

Time SimulatedClock::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

WallTime SimulatedClock::wall_time() const {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(now().time_since_epoch()));
}

void SimulatedClock::sleep_until(Time time) {
  if (sleep_ == Sleep::jumps) {
    move_to(time);
    return;
  }
  std::unique_lock lock(mutex_);
  ++sleepers_;
  moved_.wait(lock, [&] { return now_ >= time; });
  --sleepers_;
}

bool SimulatedClock::wait_until(std::condition_variable& condition,
                                std::unique_lock<std::mutex>& lock, Time deadline) {
  {
    const std::lock_guard own(mutex_);
    if (now_ >= deadline) {
      return false;
    }
    waiters_.push_back({&condition, lock.mutex()});
  }
  condition.wait(lock);  // `advance` locks the same mutex first, so its signal cannot be missed
  const std::lock_guard own(mutex_);
  waiters_.erase(std::ranges::find(waiters_, &condition, &Waiter::condition));
  return now_ < deadline;
}

void SimulatedClock::advance(Duration duration) {
  check(duration >= Duration::zero(), "SimulatedClock: time does not go back; got ",
        duration.count(), " ns");
  move_to(now() + duration);
}

void SimulatedClock::move_to(Time time) {
  std::vector<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    now_ = std::max(now_, time);
    waiters = waiters_;
  }
  moved_.notify_all();
  for (const Waiter& waiter : waiters) {
    const std::lock_guard lock(*waiter.mutex);
    waiter.condition->notify_all();
  }
}

int SimulatedClock::waiting() const {
  const std::lock_guard lock(mutex_);
  return sleepers_ + static_cast<int>(waiters_.size());
}

}  // namespace tessera
