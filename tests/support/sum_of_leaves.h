// The sum that a reduction along a tree must give.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist {

/// Sums one block a leaf of `tree` into `sum`, all of type `dtype`.
inline void sum_leaves(const ReductionTree& tree, std::span<const void* const> sources, void* sum,
                       std::size_t count, DType dtype) {
  std::vector<TreeSource> blocks;
  for (const void* source : sources) {
    blocks.push_back({source, false});
  }
  tree_reduce({ReduceOp::sum, dtype, tree.steps(), blocks, {&sum, 1}, count});
}

}  // namespace tessera::dist
