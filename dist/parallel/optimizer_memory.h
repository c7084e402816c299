// Memory for what optimizers keep of parameters that lie in a flat space.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/flat_memory.h>
#include <tessera/nn/ownership.h>
#include <tessera/nn/slot.h>

namespace tessera::dist {

/// A flat space as the ranks of a host share it out.
struct FlatSpace {
  Communicator& comm;
  Communicator& host;  ///< the ranks of this host
  Device device;
  std::int64_t count;  ///< elements
  /// Part r is [borders[r], borders[r + 1]), see deal_out.
  const std::vector<std::int64_t>& borders;

  [[nodiscard]] FlatRange part_of(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return {borders[at], borders[at + 1]};
  }
};

/// Where a parameter lies in a flat space, and which of its elements are this rank's.
struct FlatLocation {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  nn::ElementRange own;
};

/// Flat memory, laid out as the parameters are, of which every rank fills its own part.
class OptimizerMemory {
 public:
  /// The next state of a slot, which lies at `location`: where it is this rank's, `values`, or
  /// zeros where these are undefined. It takes the memory of one that no rank uses any more, as of
  /// an optimizer that is gone. Collective.
  [[nodiscard]] Tensor make(const FlatSpace& space, const std::weak_ptr<nn::Slot>& slot,
                            const FlatLocation& location, const Shape& shape, const Tensor& values);
  /// Brings everything to the first rank of the host. Collective.
  void gather(const FlatSpace& space) const;
  /// Brings everything to every rank of the host: who owns what may change then. Collective.
  void complete(const FlatSpace& space) const;
  /// Moves everything from a space to another one, in which `location` says where a slot lies, if
  /// it does; what belongs to others stays, whole on every rank. Tensors that were given stay the
  /// same, on other memory. Collective.
  using FindLocation = std::function<std::optional<FlatLocation>(const nn::Slot&)>;
  void move(const FlatSpace& from, const FlatSpace& to, const FindLocation& location);

 private:
  struct Given {
    std::weak_ptr<nn::Slot> slot;
    std::size_t memory = 0;
    Tensor state;
  };
  [[nodiscard]] std::size_t free_number(Communicator& comm, const std::weak_ptr<nn::Slot>& slot);
  [[nodiscard]] const FlatMemory& memory(const FlatSpace& space, std::size_t number);

  std::vector<FlatMemory> memories_;
  std::vector<Given> given_;
};

/// Makes `range` of `memory` on every rank what it is on `root`; nothing where it is empty.
[[nodiscard]] Work broadcast_range(Communicator& comm, const FlatMemory& memory, FlatRange range,
                                   int root, const char* label);

}  // namespace tessera::dist
