// Cross entropy row by row, for reference kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {

/// Collects the losses of a batch's rows, each microbatch by itself.
class LossRows {
 public:
  /// Rows of a microbatch are added in blocks of so many, and the blocks' sums in order.
  static constexpr std::size_t kBlock = 256;

  /// Errors begin with the name of `op`.
  LossRows(const char* op, const std::vector<std::int64_t>& targets,
           std::vector<std::int32_t> microbatches, std::int32_t cuts,
           const CrossEntropy::Attrs& attrs);

  /// Adds the loss of `row` from its logits. Gives what `loss_gradient` needs of them.
  LineSum add(std::size_t row, std::span<const double> logits);
  /// What each row's loss is multiplied with in the result.
  [[nodiscard]] std::vector<double> factors() const;
  /// Losses of rows, 0 for ignored ones.
  [[nodiscard]] const std::vector<double>& losses() const { return losses_; }
  /// Mean or sum of each microbatch.
  [[nodiscard]] std::vector<double> reduced() const;

 private:
  [[nodiscard]] bool counts(std::size_t row) const { return targets_[row] != attrs_.ignore_index; }

  const char* op_;
  const std::vector<std::int64_t>& targets_;
  std::vector<std::int32_t> microbatches_;
  CrossEntropy::Attrs attrs_;
  std::vector<double> losses_;
  std::vector<double> counted_;  ///< rows that are not ignored, of each microbatch
};

/// Replaces a row of logits by (softmax(logits) - q) * gradient, see cross_entropy.h; by zeros when
/// the gradient is 0 or the target no class.
void loss_gradient(std::span<double> logits, const LineSum& sum, std::int64_t target,
                   double gradient, double label_smoothing);

}  // namespace tessera
