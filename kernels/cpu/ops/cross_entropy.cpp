#include <tessera/core/ops/cross_entropy.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

/// Rows [begin, end) of a microbatch added in f64, in order inside blocks of 256, and so the
/// blocks.
double sum_of_losses(const float* losses, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 256;
  double sum = 0;
  for (std::int64_t first = begin; first < end; first += kBlock) {
    double block = 0;
    for (std::int64_t r = first; r < end && r < first + kBlock; ++r) {
      block += losses[r];
    }
    sum += block;
  }
  return sum;
}

struct Microbatches {
  const std::int64_t* targets;
  std::int64_t rows, cuts, ignore_index;
  bool mean;

  /// Sets the rows' factors; gives each microbatch's result.
  [[nodiscard]] std::vector<float> reduce(const float* losses, float* factors) const {
    std::vector<float> results;
    const std::int64_t per_cut = rows / cuts;
    for (std::int64_t cut = 0; cut < cuts; ++cut) {
      const std::int64_t begin = cut * per_cut;
      double counted = 0;
      for (std::int64_t r = begin; r < begin + per_cut; ++r) {
        counted += targets[r] != ignore_index ? 1 : 0;
      }
      for (std::int64_t r = begin; r < begin + per_cut; ++r) {
        const double factor = mean ? 1 / counted : 1;
        factors[r] = targets[r] != ignore_index ? static_cast<float>(factor) : 0.0F;
      }
      const double sum = sum_of_losses(losses, begin, begin + per_cut);
      results.push_back(static_cast<float>(mean ? sum / counted : sum));
    }
    return results;
  }
};

void store_reduced(Kernel& k, std::vector<float> results) {
  float* out = k.output(0).data<float>();
  if (k.stacked()) {
    std::copy(results.begin(), results.end(), out);
    return;
  }
  for (std::size_t step = 1; step < results.size(); step *= 2) {
    for (std::size_t left = 0; left + step < results.size(); left += 2 * step) {
      results[left] += results[left + step];
    }
  }
  *out = results[0];
}

bool forward_kernel(Kernel& k, const CrossEntropy::Attrs& attrs) {
  const TensorImpl& logits = k.input(0);
  if (!is_fast(logits) || !has_fast_outputs(k) || !cuts_rows(k, logits) || logits.numel() == 0) {
    return false;
  }
  const Indices targets(k.input(1));
  CrossEntropyRows c;
  c.rows = rows_of(logits), c.columns = logits.shape.back(), c.dtype = logits.dtype;
  c.logits = bytes_of(logits), c.targets = targets.data(), c.ignore_index = attrs.ignore_index;
  c.smoothing = static_cast<float>(attrs.label_smoothing);
  const bool reduced = attrs.reduction != LossReduction::none;
  std::vector<float> own(reduced ? static_cast<std::size_t>(c.rows) : 0);
  float* losses = reduced ? own.data() : k.output(0).data<float>();
  cross_entropy_forward(c, losses, k.output(1).data<float>());
  const Microbatches all{targets.data(), c.rows, k.cuts(), attrs.ignore_index,
                         attrs.reduction == LossReduction::mean};
  std::vector<float> results = all.reduce(losses, k.output(2).data<float>());
  if (reduced) {
    store_reduced(k, std::move(results));
  }
  return true;
}

bool backward_kernel(Kernel& k, const CrossEntropyBackward::Attrs& attrs) {
  const TensorImpl& logits = k.input(1);
  if (!is_f32(k.input(0)) || !is_fast(logits) || !is_f32(k.input(3)) || !is_fast(k.output())) {
    return false;
  }
  const Indices targets(k.input(2));
  CrossEntropyRows c;
  c.rows = rows_of(logits), c.columns = logits.shape.back(), c.dtype = logits.dtype;
  c.logits = bytes_of(logits), c.targets = targets.data(), c.ignore_index = -1;
  c.smoothing = static_cast<float>(attrs.label_smoothing);
  cross_entropy_backward(c, k.input(3).data<float>(), k.input(0).data<float>(), k.output().dtype,
                         bytes_of(k.output()), c.columns);
  return true;
}

const RegisterKernel<CrossEntropy, forward_kernel> registered{DeviceType::cpu};
const RegisterKernel<CrossEntropyBackward, backward_kernel> registered_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
