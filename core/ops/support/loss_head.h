// The fused head row by row, for reference kernels.
#pragma once

#include <vector>

#include <tessera/core/dispatch/kernel.h>
#include <tessera/core/ops/linear_cross_entropy.h>

namespace tessera {

/// Computes losses and gradients of all rows; see linear_cross_entropy.h.
class LossHead {
 public:
  LossHead(const TensorImpl& x, const TensorImpl& weight, const TensorImpl& targets,
           const LinearCrossEntropyAttrs& attrs);

  /// The gradients of the microbatches' losses that the attributes expect.
  [[nodiscard]] std::vector<double> expected_gradients() const;
  /// `gradients`: of each microbatch's loss. Empty: losses only.
  void run(const std::vector<double>& gradients);

  [[nodiscard]] std::int32_t microbatch_count() const { return microbatch_count_; }
  [[nodiscard]] const std::vector<double>& losses() const { return losses_; }  ///< [microbatches]
  [[nodiscard]] const std::vector<double>& to_x() const { return to_x_; }
  /// [microbatches][V n], each rounded to the dtype of the weight.
  [[nodiscard]] std::vector<double> to_weight() && { return std::move(to_weight_); }

 private:
  void logits_of(std::size_t row, std::vector<double>& logits) const;
  void add_gradients(std::size_t row, const std::vector<double>& of_logits);
  void end_block(std::size_t microbatch);

  LinearCrossEntropyAttrs attrs_;
  DType weight_dtype_;
  std::int32_t microbatch_count_;
  std::size_t width_, classes_;
  std::vector<double> x_, weight_;
  std::vector<std::int64_t> targets_;
  std::vector<std::int32_t> microbatch_of_row_;
  std::vector<double> losses_, to_x_, to_weight_;
  std::vector<double> block_;  ///< sums of the rows since the last 256th, by microbatch
  std::vector<std::size_t> rows_in_block_;  ///< by microbatch
};

}  // namespace tessera
