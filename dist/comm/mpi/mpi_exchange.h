// What an all-reduce across hosts keeps while it is under way.
#pragma once

#include <tessera/dist/comm/mpi/mpi_hosts_core.h>
#include <tessera/dist/comm/mpi/mpi_turns.h>
#include <tessera/dist/comm/shared/shared_group.h>

namespace tessera::dist::mpi {

/// Bytes of a part that one host sends to another at a time.
inline constexpr std::size_t kMessageBytes = 1 << 17;

struct HostsCore::Exchange {
  const Collective& collective;
  const ReductionTree& tree;
  HostPlan plan;
  int hosts;
  int rails;
  int host;
  int rail;  ///< -1: this rank does not talk to other hosts
  /// Where elements begin in memory: of every leaf on this host, null for the others, and of every
  /// result on this host. `origin` is the element that the first byte is.
  std::vector<const std::byte*> leaves{};
  std::vector<std::byte*> results{};
  std::size_t origin = 0;
  Turns turns{};

  [[nodiscard]] std::size_t element() const { return size_of(collective.dtype); }
  /// Bytes of an element of the partial sums of `from`.
  [[nodiscard]] std::size_t wire_element(int from) const {
    return size_of(plan.is_partial(from) ? accumulator_of(collective.dtype) : collective.dtype);
  }
  /// Whom this host sends to, and receives from, in turn `turn` of a round of hosts - 1.
  [[nodiscard]] int receiver(int turn) const { return (host + 1 + turn) % hosts; }
  [[nodiscard]] int sender(int turn) const { return (host + hosts - 1 - turn) % hosts; }
  [[nodiscard]] std::size_t root_count(int from) const {
    return plan.roots[static_cast<std::size_t>(from)].size();
  }
  /// The elements of a chunk that host `owner` adds and this rank's rail carries.
  [[nodiscard]] Part part(const Chunk& chunk, int owner) const {
    return part_of(chunk.count, hosts * rails, owner * rails + rail);
  }
};

}  // namespace tessera::dist::mpi
