// Memory for what optimizers keep of parameters that lie in flat memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/nn/slot.h>
#include <tessera/nn/synchronizer.h>

namespace tessera::dist {

/// How a flat space is shared out, see deal_out in parameter_memory.h.
struct FlatSpace {
  Communicator& comm;
  Communicator& host;  ///< the ranks of this host
  std::size_t nbytes;
  const std::vector<std::int64_t>& borders;

  /// What the host's rank `rank` owns of a buffer.
  [[nodiscard]] std::span<float> part_of_rank(const CommBuffer& flat, int rank) const;
};

/// Where a parameter lies in a flat space, and which of its elements are this rank's.
struct FlatPlace {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  nn::ElementRange own;
};

/// Flat buffers, laid out as the parameters are, of which every rank fills its own part.
class OptimizerMemory {
 public:
  /// The next state of a slot, zeroed, at `offset`. Collective.
  [[nodiscard]] Tensor make(const FlatSpace& space, const std::weak_ptr<nn::Slot>& slot,
                            std::int64_t offset, const Shape& shape);
  /// Brings everything to the first rank of the host. Collective.
  void gather(const FlatSpace& space) const;
  /// Brings everything to every rank of the host: who owns what may change then. Collective.
  void complete(const FlatSpace& space) const;
  /// Moves everything from a space to another one, in which `place` says where a slot lies, if it
  /// does; what belongs to others stays, whole on every rank. Tensors that were given stay the
  /// same, on other memory. Collective.
  using FindPlace = std::function<std::optional<FlatPlace>(const nn::Slot&)>;
  void move(const FlatSpace& from, const FlatSpace& to, const FindPlace& place);

 private:
  struct Given {
    std::weak_ptr<nn::Slot> slot;
    std::size_t buffer = 0;
    Tensor state;
  };
  [[nodiscard]] const CommBuffer& buffer(const FlatSpace& space, std::size_t number);

  std::vector<CommBuffer> buffers_;
  std::vector<Given> given_;
};

}  // namespace tessera::dist
