// The seam to time: everything that reads a clock or waits until a time goes through it, so that
// tests can run hours in microseconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

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
