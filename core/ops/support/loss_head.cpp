#include <tessera/core/ops/support/loss_head.h>

#include <algorithm>

#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/loss_rows.h>
#include <tessera/core/ops/support/row_sums.h>

namespace tessera {

LossHead::LossHead(const TensorImpl& x, const TensorImpl& weight, const TensorImpl& targets,
                   const LinearCrossEntropyAttrs& attrs)
    : attrs_(attrs),
      weight_dtype_(weight.dtype),
      microbatch_count_(x.microbatches() ? x.microbatches().count : 1),
      width_(static_cast<std::size_t>(weight.shape[1])),
      classes_(static_cast<std::size_t>(weight.shape[0])),
      x_(dense_values<double>(x, attrs.dtype)),
      weight_(dense_values<double>(weight, attrs.dtype)),
      targets_(dense_values<std::int64_t>(targets)),
      microbatch_of_row_(microbatch_of_rows(x, microbatch_count_)) {}

std::vector<double> LossHead::expected_gradients() const {
  std::vector<double> gradients(static_cast<std::size_t>(microbatch_count_));
  for (std::size_t row = 0; row < targets_.size(); ++row) {
    gradients[static_cast<std::size_t>(microbatch_of_row_[row])] +=
        targets_[row] != attrs_.ignore_index ? 1 : 0;
  }
  for (double& gradient : gradients) {
    gradient = attrs_.expected_of(gradient);
  }
  return gradients;
}

void LossHead::run(const std::vector<double>& gradients) {
  LossRows rows("linear_cross_entropy", targets_, microbatch_of_row_, microbatch_count_,
                {attrs_.ignore_index, attrs_.label_smoothing, LossReduction::mean});
  const auto microbatch_count = static_cast<std::size_t>(microbatch_count_);
  if (!gradients.empty()) {
    to_x_.assign(x_.size(), 0);
    to_weight_.assign(microbatch_count * weight_.size(), 0);
    block_ = to_weight_;
    rows_in_block_.assign(microbatch_count, 0);
  }
  const std::vector<double> factors = rows.factors();
  std::vector<double> logits(classes_);
  for (std::size_t row = 0; row < targets_.size(); ++row) {
    logits_of(row, logits);
    const LineSum sum = rows.add(row, logits);
    if (!gradients.empty()) {
      const double gradient = gradients[static_cast<std::size_t>(microbatch_of_row_[row])];
      loss_gradient(logits, sum, targets_[row], factors[row] * gradient, attrs_.label_smoothing);
      round_values(logits, attrs_.dtype);
      add_gradients(row, logits);
    }
  }
  for (std::size_t microbatch = 0; !gradients.empty() && microbatch < microbatch_count;
       ++microbatch) {
    end_block(microbatch);
  }
  losses_ = rows.reduced();
}

void LossHead::logits_of(std::size_t row, std::vector<double>& logits) const {
  for (std::size_t j = 0; j < classes_; ++j) {
    logits[j] = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      logits[j] += x_[row * width_ + i] * weight_[j * width_ + i];
    }
  }
}

void LossHead::add_gradients(std::size_t row, const std::vector<double>& of_logits) {
  const auto microbatch = static_cast<std::size_t>(microbatch_of_row_[row]);
  double* block = block_.data() + microbatch * weight_.size();
  for (std::size_t j = 0; j < classes_; ++j) {
    for (std::size_t i = 0; i < width_; ++i) {
      to_x_[row * width_ + i] += of_logits[j] * weight_[j * width_ + i];
      *block++ += of_logits[j] * x_[row * width_ + i];
    }
  }
  if (++rows_in_block_[microbatch] == LossRows::kBlock) {
    end_block(microbatch);
  }
}

/// Adds the rows since the last block's end to the microbatch's sum, in the weight's dtype.
void LossHead::end_block(std::size_t microbatch) {
  const auto first = static_cast<std::ptrdiff_t>(microbatch * weight_.size());
  const auto count = static_cast<std::ptrdiff_t>(weight_.size());
  std::vector<double> piece(block_.begin() + first, block_.begin() + first + count);
  round_values(piece, weight_dtype_);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    piece[i] += to_weight_[microbatch * weight_.size() + i];
  }
  round_values(piece, weight_dtype_);
  std::ranges::copy(piece, to_weight_.begin() + first);
  std::fill_n(block_.begin() + first, count, 0.0);
  rows_in_block_[microbatch] = 0;
}

}  // namespace tessera
