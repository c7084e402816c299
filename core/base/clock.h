// The seam to time: everything that reads a clock or waits until a time goes through it, so that
// tests can run hours in microseconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace tessera {

/// A point of the monotonic time that deadlines and durations are made of.
using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;
/// A point of calendar time, for logs and files.
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes back.
  [[nodiscard]] virtual Time now() const = 0;
  [[nodiscard]] virtual WallTime wall_time() const = 0;
  /// Returns when `now()` has reached `time`; at once when it has already.
  virtual void sleep_until(Time time) = 0;
  /// Like std::condition_variable::wait_until: returns false when `deadline` was reached. Wakes
  /// spuriously too, so call it in a loop.
  virtual bool wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          Time deadline) = 0;

  void sleep_for(Duration duration) { sleep_until(now() + duration); }
};

/// The system's clocks.
class RealClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override;
  [[nodiscard]] WallTime wall_time() const override;
  void sleep_until(Time time) override;
  bool wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  Time deadline) override;
};

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

/// The process's clock: the real one, unless a ClockScope replaced it.
[[nodiscard]] Clock& clock();

/// Replaces the process's clock, for all threads, until the scope ends. For tests: open it before
/// the threads that use it start.
class ClockScope {
 public:
  explicit ClockScope(Clock& replacement);
  ~ClockScope();
  ClockScope(const ClockScope&) = delete;
  ClockScope& operator=(const ClockScope&) = delete;

 private:
  Clock* previous_;
};

}  // namespace tessera
