#include <tessera/core/autograd/pass_tree.h>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/add.h>

namespace tessera {

void accumulate(Tensor& into, const Tensor& value) {
  const bool exclusive =
      into.impl()->use_count() == 1 && into.impl()->storage->use_count() == 1 && !grad_enabled();
  into = exclusive ? add_(into, value) : into + value;
}

void PassTree::add(Tensor sum, std::int64_t first, std::int64_t count) {
  blocks_.push_back({first, count, std::move(sum)});
  merge_siblings();
}

void PassTree::merge_siblings() {
  while (blocks_.size() >= 2) {
    Block& right = blocks_.back();
    Block& left = blocks_[blocks_.size() - 2];
    const bool siblings = left.count == right.count && left.first % (2 * left.count) == 0 &&
                          right.first == left.first + left.count;
    if (!siblings) {
      return;
    }
    accumulate(left.sum, right.sum);
    left.count *= 2;
    blocks_.pop_back();
  }
}

Contribution PassTree::take(std::int64_t grain) {
  Contribution total{.dense = {}, .rows = append_passes(rows_)};
  rows_.clear();
  // Climbing the tree, a block without sibling takes its parent's place: its sum stays as it is.
  for (std::int64_t size = 1; size < grain && !blocks_.empty(); size *= 2) {
    for (Block& block : blocks_) {
      if (block.count == size) {
        block.first -= block.first % (2 * size);
        block.count = 2 * size;
      }
    }
    std::vector<Block> level = std::move(blocks_);
    blocks_.clear();
    for (Block& block : level) {
      if (!blocks_.empty() && blocks_.back().first == block.first) {
        accumulate(blocks_.back().sum, block.sum);
      } else {
        blocks_.push_back(std::move(block));
      }
    }
  }
  if (!blocks_.empty()) {
    total.dense = std::move(blocks_[0].sum);
    blocks_.clear();
  }
  return total;
}

}  // namespace tessera
