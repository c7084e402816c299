// How an optimizer learns which part of the parameters is its rank's, without knowing of ranks.
#pragma once

#include <cstdint>
#include <functional>
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

/// Which elements of parameters each of the ranks that train them updates, and how the others get
/// the new values. Data parallel installs one on every slot; a slot without one is trained by this
/// process alone.
///
/// A step: between `begin_comparison` and `end_comparison` the ranks find out whether all mean the
/// same step; `all_reduce_numbers` brings the norm together, after which no rank reads the old
/// values; the optimizer updates the elements in `own_range` of each of its parameters, run by run,
/// and calls `all_gather_parameters` for each run; `wait_for_parameters` waits until all ranks have
/// them.
class Ownership {
 public:
  virtual ~Ownership() = default;
  /// The elements of `slot` that this rank updates; cut at multiples of kNormBlock.
  [[nodiscard]] virtual ElementRange own_range(const Slot& slot) const = 0;
  /// From now on one rank owns all of `slot`, the others nothing of it. The same call on all ranks.
  virtual void assign_owner(const Slot& slot) = 0;
  /// Memory for optimizer state of `slot`, of `shape` (of the parameter's size at most). It begins
  /// as `values`, which are whole on every rank, or, where they are undefined, as zeros. On ranks
  /// that share memory it is one tensor for all of them, of which each writes its own range.
  /// Collective.
  [[nodiscard]] virtual Tensor make_state(const Slot& slot, const Shape& shape,
                                          const Tensor& values) = 0;
  /// Brings optimizer state together: afterwards the first rank of each host holds all of it.
  /// Collective.
  virtual void gather_states() = 0;
  /// Begins to bring a run of elements that this rank has updated, a dense tensor on the
  /// parameter's memory, to the others: what can be done while the caches hold it is done. Throws
  /// InvalidArgument where the parameter's tensor is no longer the one that ranks share.
  virtual void all_gather_parameters(const Tensor& updated) = 0;
  /// Blocks until every rank's values are those that the owners wrote. Throws CommError.
  virtual void wait_for_parameters() = 0;
  /// Adds up numbers that owners computed for disjoint positions of `values`: on return all of them
  /// hold all. Positions of other ranks are zero before.
  virtual void all_reduce_numbers(std::span<double> values) = 0;

  /// Begins to compare what the ranks are about to do, of which `fingerprint` is a hash, and
  /// returns at once.
  virtual void begin_comparison(std::uint64_t fingerprint) = 0;
  /// Ends what `begin_comparison` began, if that has not ended. Throws Disagreement on every rank,
  /// naming ranks and values, when the fingerprints differ; only then `facts` is asked for what
  /// they are made of.
  virtual void end_comparison(const std::function<Facts()>& facts) = 0;
  /// The buffers whose values are kept equal, in the same order on all ranks.
  [[nodiscard]] virtual std::vector<SlotPtr> buffers() const = 0;
  /// Adds up bytes over all ranks that train together: positions of others are zero before.
  virtual void all_reduce_bytes(std::span<std::uint8_t> bytes) = 0;
};

}  // namespace tessera::nn
