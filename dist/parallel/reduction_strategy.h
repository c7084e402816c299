// What is launched for gradients that are ready, and what a rank holds afterwards.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/flat_memory.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist {

/// Gradients of the flat space of parameters: of each range the sums over a rank's blocks of
/// microbatches, one behind the other, if the range is a bucket's or no rank has several.
struct GradientMemory {
  FlatMemory flat;
  std::shared_ptr<const ReductionTree> tree;

  /// An all_reduce of `range` along the tree, in place.
  [[nodiscard]] Collective sum_of(FlatRange range, std::string label) const;
};

/// How ranks reduce gradients. All of them reduce the same ranges in the same order.
class ReductionStrategy {
 public:
  virtual ~ReductionStrategy() = default;
  /// Launches the reduction of `range`, whose sum lies where the rank's first block does: all of it
  /// or, where each rank updates its own elements alone, those.
  [[nodiscard]] virtual Work reduce(const GradientMemory& gradients, FlatRange range,
                                    std::string label) = 0;
};

/// Every rank holds the whole sum.
///
/// Note [Two groups]. Between hosts two reductions are under way at a time, in groups of their own,
/// so that links are busy while one of them waits for the last piece.
class AllReduce final : public ReductionStrategy {
 public:
  /// Collective.
  explicit AllReduce(const std::shared_ptr<Communicator>& comm);
  [[nodiscard]] Work reduce(const GradientMemory& gradients, FlatRange range,
                            std::string label) override;

 private:
  std::vector<std::shared_ptr<Communicator>> groups_;  ///< take turns
  std::size_t launched_ = 0;
};

}  // namespace tessera::dist
