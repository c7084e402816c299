// What one run of backward brings to a leaf.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/autograd/batch_sums.h>
#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/reached_leaves.h>

namespace tessera {

/// Sums the contributions of one run to one leaf. Runs on other threads have their own.
class LeafRun {
 public:
  explicit LeafRun(LeafNode& leaf) : leaf_(&leaf) {}

  [[nodiscard]] LeafNode& leaf() const { return *leaf_; }
  /// One more contribution will come. Rows are no use: they are summed by themselves, added last.
  void expect(bool rows);
  /// True when all dense contributions come from one use.
  [[nodiscard]] bool only_use() const { return uses_ == 1; }
  /// Counts a contribution as come; true for the last one.
  [[nodiscard]] bool arrive() { return --pending_ == 0; }
  /// Counts a dense use as come, with a contribution or none; true for the last one.
  [[nodiscard]] bool arrive_dense() { return ++arrived_ >= uses_; }
  [[nodiscard]] bool empty() const { return !sum_.defined() && rows_.empty() && !handed_over_; }
  /// Bytes of a sum that came whole for each microbatch.
  [[nodiscard]] std::size_t bytes_apart() const;

  /// Adds one use's gradient.
  void add(Tensor gradient);
  /// Keeps a use whose gradient is formed with those of others when the last dense one has come.
  void put_off(BatchSumUse use) { put_off_.push_back(std::move(use)); }
  /// Adds the gradients of the uses that were put off. A sum that is all there is of the dense part
  /// is written into the sink's memory if it is `for_sink`.
  void add_put_off(bool for_sink);
  void add_sparse(SparseGradient rows) { rows_.push_back(std::move(rows)); }
  /// Gives the dense part, which is whole, to the sink, if there are both.
  void hand_over_dense();
  /// The finished sum, for somebody who wants it instead of the sink; hooks on gradients have run.
  [[nodiscard]] Tensor take_sum();
  /// Hands the finished sum to the sink, to the sums over the step's passes or, scaled, to `grad`.
  void complete(ReachedLeaves& reached, GradientScale scale);

 private:
  void add_up_microbatches(GradientSink* into);
  void check_not_repeated() const;

  LeafNode* leaf_;
  Tensor sum_;  ///< dense contributions so far
  std::vector<BatchSumUse> put_off_;
  std::vector<SparseGradient> rows_;  ///< row contributions
  std::int32_t pending_ = 0;          ///< contributions still to come
  std::int32_t uses_ = 0;             ///< dense ones in all
  std::int32_t arrived_ = 0;          ///< dense ones that have come
  bool handed_over_ = false;          ///< the sink has the dense part
};

}  // namespace tessera
