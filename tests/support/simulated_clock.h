// The seam to time, simulated: tests run hours in microseconds.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include <tessera/core/base/clock.h>

namespace tessera {

/// A clock that stands still until told otherwise. Thread-safe.
class SimulatedClock final : public Clock {
 public:
  enum class Sleep {
    jumps,  ///< `sleep_until` moves the time itself: for one thread
    waits   ///< it waits for another thread to call `advance`
  };
  explicit SimulatedClock(Sleep sleep = Sleep::jumps) : sleep_(sleep) {}

  [[nodiscard]] Time now() const override;
  [[nodiscard]] WallTime wall_time() const override;
  void sleep_until(Time time) override;
  bool wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  Time deadline) override;

  /// Moves both times on by `duration` >= 0 and wakes whom that concerns. Call it without holding
  /// a mutex that a thread gave to `wait_until`.
  void advance(Duration duration);
  /// Threads that wait inside `sleep_until` or `wait_until` now.
  [[nodiscard]] int waiting() const;

 private:
  struct Waiter {
    std::condition_variable* condition;
    std::mutex* mutex;
  };
  void move_to(Time time);

  const Sleep sleep_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  Time now_{};
  int sleepers_ = 0;
  std::vector<Waiter> waiters_;
};

}  // namespace tessera
