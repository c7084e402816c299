#include <tessera/dist/reduce/tree.h>

#include <algorithm>
#include <bit>

#include <tessera/core/base/error.h>
#include <tessera/core/base/grain.h>

namespace tessera::dist {
namespace {

/// Appends the additions that sum the leaves inside [first, first + size), children before parents.
/// Returns the leaf that holds the sum, -1 when no leaf lies there.
int append_steps(const std::vector<TreeLeaf>& leaves, std::int64_t first, std::int64_t size,
                 std::vector<TreeStep>& steps) {
  const auto begin = std::ranges::lower_bound(leaves, first, {}, &TreeLeaf::first);
  if (begin == leaves.end() || begin->first >= first + size) {
    return -1;
  }
  if (begin->first == first && begin->size == size) {
    return static_cast<int>(begin - leaves.begin());
  }
  const int left = append_steps(leaves, first, size / 2, steps);
  const int right = append_steps(leaves, first + size / 2, size / 2, steps);
  if (left < 0 || right < 0) {
    return std::max(left, right);
  }
  steps.push_back({left, right});
  return left;
}

}  // namespace

ReductionTree::ReductionTree(std::vector<TreeLeaf> leaves) : leaves_(std::move(leaves)) {
  const TreeLeaf& last = leaves_.back();
  const auto span = std::bit_ceil(static_cast<std::uint64_t>(last.first + last.size));
  append_steps(leaves_, 0, static_cast<std::int64_t>(span), steps_);
}

ReductionTree ReductionTree::over_ranks(int ranks) {
  check(ranks >= 1, "reduction tree: too few ranks; got ", ranks, ", expected at least 1");
  std::vector<TreeLeaf> leaves;
  for (int rank = 0; rank < ranks; ++rank) {
    leaves.push_back({rank, 0, rank, 1});
  }
  return ReductionTree(std::move(leaves));
}

ReductionTree ReductionTree::over_grain(std::int64_t grain, int ranks) {
  check(grain >= 1 && std::has_single_bit(static_cast<std::uint64_t>(grain)),
        "reduction tree: grain is no power of two; got ", grain);
  check(ranks >= 1 && ranks <= grain, "reduction tree: more ranks than microbatches; got ", ranks,
        " ranks, expected 1 to ", grain);
  std::vector<TreeLeaf> leaves;
  for (int rank = 0; rank < ranks; ++rank) {
    int slot = 0;
    for (const MicrobatchRange& block : aligned_blocks(share_of_rank(grain, ranks, rank))) {
      leaves.push_back({rank, slot++, block.first, block.count});
    }
  }
  return ReductionTree(std::move(leaves));
}

std::vector<TreeLeaf> ReductionTree::of_rank(int rank) const {
  std::vector<TreeLeaf> own;
  std::ranges::copy_if(leaves_, std::back_inserter(own),
                       [rank](const TreeLeaf& leaf) { return leaf.rank == rank; });
  return own;
}

int ReductionTree::max_blocks() const noexcept {
  int most = 0;
  for (const TreeLeaf& leaf : leaves_) {
    most = std::max(most, leaf.slot + 1);
  }
  return most;
}

}  // namespace tessera::dist
