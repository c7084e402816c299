#include <tessera/dist/reduce/tree.h>

#include <algorithm>
#include <bit>

#include <tessera/core/base/error.h>
#include <tessera/core/base/grain.h>
#include <tessera/core/base/tree.h>

namespace tessera::dist {

ReductionTree::ReductionTree(std::vector<TreeLeaf> leaves) : leaves_(std::move(leaves)) {
  TreeSum<int> tree;
  const auto add = [this](int into, int from) { steps_.push_back({into, from}); };
  for (int i = 0; i < std::ssize(leaves_); ++i) {
    const TreeLeaf& leaf = leaves_[static_cast<std::size_t>(i)];
    tree.take(leaf.first, leaf.size, i, add);
    max_blocks_ = std::max(max_blocks_, leaf.block + 1);
  }
  tree.finish(add);
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
    int block = 0;
    for (const MicrobatchRange& range : aligned_blocks(share_of_rank(grain, ranks, rank))) {
      leaves.push_back({rank, block++, range.first, range.count});
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

}  // namespace tessera::dist
