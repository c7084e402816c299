// Where a step's time goes in communication.
#pragma once

#include <chrono>
#include <utility>

#include <tessera/core/base/clock.h>
#include <tessera/dist/comm/work.h>

namespace tessera::dist {

struct CommunicationTime {
  std::chrono::nanoseconds total{};    ///< sum of the collectives' own durations
  std::chrono::nanoseconds exposed{};  ///< what the rank waited for them
};

/// Waits for collectives, and counts how long.
class TimedWaits {
 public:
  /// Waits for `work` and throws what it failed with (Work::wait).
  void wait(const Work& work) {
    const Time begin = clock().now();
    work.wait();
    time_.exposed += clock().now() - begin;
    time_.total += work.duration();
  }
  /// The time since the last call.
  [[nodiscard]] CommunicationTime take() { return std::exchange(time_, {}); }

 private:
  CommunicationTime time_;
};

}  // namespace tessera::dist
