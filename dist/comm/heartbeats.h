// When the ranks of a group last showed a sign of life.
#pragma once

#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/dist/comm/heartbeat_table.h>

namespace tessera::dist {

/// Follows the beats in a table of heartbeats, as this rank sees them. For one thread.
class Heartbeats {
 public:
  explicit Heartbeats(const HeartbeatTable& table);
  /// Looks at every rank. Call it several times within the silence that matters.
  void listen(Time now);
  /// Time without a new beat; zero before the first look.
  [[nodiscard]] Duration silence(int rank, Time now) const;
  /// This process stood still: silence counts from `now`.
  void forgive(Time now);

 private:
  struct Heartbeat {
    std::uint64_t beats = 0;
    Time seen{};
  };
  const HeartbeatTable& table_;
  std::vector<Heartbeat> heartbeats_;
};

}  // namespace tessera::dist
