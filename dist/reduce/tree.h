// How ranks share out the tree of sums over microbatches (core/base/tree.h): a rank that owns an
// aligned block of [0, G), G a power of two, sums its subtree alone, and ranks combine the roots of
// subtrees as if one process had summed everything.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::dist {

/// One contribution: the root of the subtree over [first, first + size), held by `rank` as its
/// block number `block`.
struct TreeLeaf {
  int rank = 0;
  int block = 0;
  std::int64_t first = 0;
  std::int64_t size = 1;
};

/// One addition: block `into` becomes block `into` + block `from` (indices of leaves, in order).
struct TreeStep {
  int into = 0;
  int from = 0;
};

/// The contributions of all ranks in index order, and the additions that sum them.
class ReductionTree {
 public:
  /// One leaf a rank: the tree over rank numbers. Where `ranks` is no power of two, absent leaves
  /// count as +0 and are left out.
  static ReductionTree over_ranks(int ranks);
  /// The microbatches [0, grain) dealt to `ranks` in contiguous shares that differ by at most one
  /// in size, each cut into aligned blocks. Needs grain a power of two and ranks <= grain.
  static ReductionTree over_grain(std::int64_t grain, int ranks);

  [[nodiscard]] const std::vector<TreeLeaf>& leaves() const noexcept { return leaves_; }
  /// Additions in the order to carry them out; the sum ends in leaf 0.
  [[nodiscard]] const std::vector<TreeStep>& steps() const noexcept { return steps_; }
  [[nodiscard]] std::vector<TreeLeaf> of_rank(int rank) const;
  /// The largest number of blocks that one rank holds.
  [[nodiscard]] int max_blocks() const noexcept { return max_blocks_; }

 private:
  explicit ReductionTree(std::vector<TreeLeaf> leaves);
  std::vector<TreeLeaf> leaves_;
  std::vector<TreeStep> steps_;
  int max_blocks_ = 0;
};

}  // namespace tessera::dist
