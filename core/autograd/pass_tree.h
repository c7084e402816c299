// Sums over the passes of a step, along the tree over microbatches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/base/tree.h>

namespace tessera {

/// Collects the sums of aligned blocks of microbatches, one a pass, and adds siblings as soon as
/// both are there, so that at most log2(passes) buffers are alive.
class PassTree {
 public:
  /// Adds the block of microbatches [first, first + count), behind all that were added before.
  void add(Tensor sum, std::int64_t first, std::int64_t count);
  void add_sparse(SparseGradient rows) { rows_.push_back(std::move(rows)); }
  /// The sum over an aligned block of `size` microbatches, of which all that was added are part;
  /// absent ones count as +0. Leaves the tree empty.
  [[nodiscard]] Contribution take(std::int64_t size);
  [[nodiscard]] bool empty() const { return sums_.empty() && rows_.empty(); }

 private:
  TreeSum<Tensor> sums_;
  std::int64_t added_ = 0;  ///< microbatches
  std::vector<SparseGradient> rows_;
};

/// Number of the thread's current or latest backward in its pass, from 0. The engine counts.
[[nodiscard]] std::size_t backward_in_pass();
void count_backward_in_pass();
/// How many the thread has run in the context's pass.
[[nodiscard]] std::size_t backwards_in_pass();
/// Takes the latest count back: that backward threw.
void uncount_backward_in_pass();

/// True when nobody else can see `x`, so that it may be overwritten.
[[nodiscard]] bool is_exclusive(const Tensor& x);

/// Adds `value` to `into` in place when nobody else can see `into`, else out of place.
void accumulate(Tensor& into, const Tensor& value);

}  // namespace tessera
