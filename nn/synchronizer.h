// How an optimizer learns which part of the parameters is its rank's, without knowing of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/slot.h>

namespace tessera::nn {

/// A run of consecutive elements of one parameter.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Elements in one block of a gradient norm: sums of squares are taken over blocks of this size,
/// counted from each tensor's first element, whoever computes them.
inline constexpr std::int64_t kNormBlock = 65536;

/// Named values that must be equal on all ranks.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Keeps parameters equal on all ranks that train them. Data parallel installs one on every slot;
/// a slot without one is trained by this process alone.
///
/// A step: `finish_gradients` waits for the reductions; between `begin_comparison` and
/// `end_comparison` the ranks find out whether all mean the same step; they `share` the norm, after
/// which none of them reads the old values; the optimizer updates the elements in `own_range` of
/// each of its parameters, run by run, and calls `publish` for each run; `finish_parameters` waits
/// until all ranks have them.
class Synchronizer {
 public:
  virtual ~Synchronizer() = default;
  /// Blocks until every gradient holds the mean over the global batch. Throws CommError.
  virtual void finish_gradients() = 0;
  /// The elements of `slot` that this rank updates; cut at multiples of kNormBlock.
  [[nodiscard]] virtual ElementRange own_range(const Slot& slot) const = 0;
  /// From now on one rank owns all of `slot`, the others nothing of it. The same call on all ranks.
  virtual void keep_whole(const Slot& slot) = 0;
  /// Memory for optimizer state of `slot`, of `shape` (of the parameter's size at most), zeroed. On
  /// ranks that share memory it is one tensor for all of them, of which each writes its own range.
  [[nodiscard]] virtual Tensor make_state(const Slot& slot, const Shape& shape) = 0;
  /// Adds up numbers that ranks computed for disjoint positions of `values`: on return all ranks
  /// hold all of them. Positions of other ranks are zero before.
  virtual void share(std::span<double> values) = 0;
  /// Begins to compare what the ranks are about to do, of which `fingerprint` is a hash, and
  /// returns at once.
  virtual void begin_comparison(std::uint64_t /*fingerprint*/) {}
  /// Ends what `begin_comparison` began. Throws Disagreement on every rank, naming ranks and
  /// values, when the fingerprints differ; only then `facts` is asked for what they are made of.
  virtual void end_comparison(const std::function<Facts()>& /*facts*/) {}
  /// The buffers whose values it keeps equal, in the same order on all ranks.
  [[nodiscard]] virtual std::vector<SlotPtr> buffers() const { return {}; }
  /// Like `share`, over all ranks that train together: positions of others are zero before.
  virtual void share_bytes(std::span<std::uint8_t> /*bytes*/) {}
  /// Brings optimizer state together: afterwards the first rank of each host holds all of it.
  /// Collective.
  virtual void gather_states() {}
  /// To be called with every run of elements that this rank has updated, a dense tensor on the
  /// parameter's memory: what can be brought to other ranks while the caches hold it is. Throws
  /// InvalidArgument where the parameter's tensor is no longer the one that ranks share.
  virtual void publish(const Tensor& updated) = 0;
  /// Blocks until every rank's values are those that the owners wrote. Throws CommError.
  virtual void finish_parameters() = 0;
};

}  // namespace tessera::nn
