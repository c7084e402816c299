// Sums over the passes of a step, along the tree over microbatches.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/autograd/leaf.h>

namespace tessera {

/// Collects the sums of aligned blocks of microbatches, one a pass, and adds siblings as soon as
/// both are there, so that at most log2(passes) buffers are alive.
class PassTree {
 public:
  /// Adds the block of microbatches [first, first + count). Undefined sums count as absent.
  void add(Tensor sum, std::int64_t first, std::int64_t count);
  void add_rows(RowGradient rows) { rows_.push_back(std::move(rows)); }
  /// The sum over [0, grain); absent blocks count as +0. Leaves the tree empty.
  [[nodiscard]] Contribution take(std::int64_t grain);
  [[nodiscard]] bool empty() const { return blocks_.empty() && rows_.empty(); }

 private:
  struct Block {
    std::int64_t first;
    std::int64_t count;
    Tensor sum;
  };
  void merge_siblings();
  std::vector<Block> blocks_;
  std::vector<RowGradient> rows_;
};

/// Completes the gradients of leaves that earlier passes of the step contributed to and the last
/// one did not. The engine calls it at the end of backward in the last pass.
void complete_open_leaves();

/// Adds `value` to `into` in place when nobody else can see `into`, else out of place.
void accumulate(Tensor& into, const Tensor& value);

}  // namespace tessera
