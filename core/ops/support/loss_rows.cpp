#include <tessera/core/ops/support/loss_rows.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera {

LossRows::LossRows(const char* op, const std::vector<std::int64_t>& targets,
                   std::vector<std::int32_t> microbatches, std::int32_t cuts,
                   const CrossEntropy::Attrs& attrs)
    : op_(op),
      targets_(targets),
      microbatches_(std::move(microbatches)),
      attrs_(attrs),
      losses_(targets.size()),
      counted_(static_cast<std::size_t>(cuts)) {
  for (std::size_t row = 0; row < targets.size(); ++row) {
    counted_[static_cast<std::size_t>(microbatches_[row])] += counts(row) ? 1 : 0;
  }
}

LineSum LossRows::add(std::size_t row, std::span<const double> logits) {
  const LineSum sum = line_sum({logits.begin(), logits.end()});
  if (!counts(row)) {
    return sum;
  }
  const std::int64_t target = targets_[row];
  const auto classes = static_cast<std::int64_t>(logits.size());
  check(target >= 0 && target < classes, op_, ": target is no class; got ", target, " in row ", row,
        ", expected 0 to ", classes - 1, " or ignore_index ", attrs_.ignore_index);
  const double smoothing = attrs_.label_smoothing;
  double loss = (1 - smoothing) * (sum.top - logits[static_cast<std::size_t>(target)]);
  if (smoothing > 0) {
    const double mean =
        std::accumulate(logits.begin(), logits.end(), 0.0) / static_cast<double>(classes);
    loss += smoothing * (sum.top - mean);
  }
  loss += sum.log_sum;
  losses_[row] = loss;
  return sum;
}

std::vector<double> LossRows::factors() const {
  std::vector<double> factors;
  for (std::size_t row = 0; row < targets_.size(); ++row) {
    const double rows = counted_[static_cast<std::size_t>(microbatches_[row])];
    const double factor = attrs_.reduction == LossReduction::mean ? 1 / rows : 1;
    factors.push_back(counts(row) ? factor : 0);
  }
  return factors;
}

std::vector<double> LossRows::reduced() const {
  std::vector<double> sums(counted_.size());
  std::vector<double> block(counted_.size());
  std::vector<std::size_t> seen(counted_.size());
  for (std::size_t row = 0; row < targets_.size(); ++row) {
    const auto part = static_cast<std::size_t>(microbatches_[row]);
    block[part] += losses_[row];
    if (++seen[part] % kBlock == 0) {
      sums[part] += std::exchange(block[part], 0);
    }
  }
  for (std::size_t part = 0; part < sums.size(); ++part) {
    sums[part] += block[part];
    if (attrs_.reduction == LossReduction::mean) {
      sums[part] /= std::max(counted_[part], 1.0);
    }
  }
  return sums;
}

void loss_gradient(std::span<double> logits, const LineSum& sum, std::int64_t target,
                   double gradient, double label_smoothing) {
  const auto classes = static_cast<std::int64_t>(logits.size());
  if (gradient == 0 || target < 0 || target >= classes) {
    std::ranges::fill(logits, 0.0);
    return;
  }
  const double spread = label_smoothing / static_cast<double>(classes);
  for (std::int64_t j = 0; j < classes; ++j) {
    double& value = logits[static_cast<std::size_t>(j)];
    const double p = std::exp((value - sum.top) - sum.log_sum);
    value = (p - spread - (j == target ? 1 - label_smoothing : 0)) * gradient;
  }
}

}  // namespace tessera
