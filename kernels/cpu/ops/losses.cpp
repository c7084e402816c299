// Losses of rows of logits, as means or sums over microbatches.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/kernels/cpu/linear_cross_entropy.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

/// The rows of a batch: `cuts` microbatches of equal size, one after another.
struct LossRows {
  const std::int64_t* targets = nullptr;
  std::int64_t rows = 0, cuts = 1, ignore_index = -100;
  bool mean = true;  ///< over the rows that are not ignored; else a sum

  /// factors[row] = what the row's loss is multiplied with: 0 for an ignored one.
  template <class Number>
  void factors(Number* factors) const;
  /// Each microbatch's result. Rows are added in f64, in order inside blocks of 256, and so are
  /// the blocks.
  template <class Number>
  [[nodiscard]] std::vector<Number> reduce(const Number* losses) const;
  /// The number of a microbatch's rows that are not ignored.
  [[nodiscard]] double counted(std::int64_t cut) const;
};

template <class Number>
double sum_of_losses(const Number* losses, std::int64_t count) {
  constexpr std::int64_t kBlock = 256;
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    double block = 0;
    for (std::int64_t r = first; r < std::min(count, first + kBlock); ++r) {
      block += losses[r];
    }
    sum += block;
  }
  return sum;
}

double LossRows::counted(std::int64_t cut) const {
  const std::int64_t size = rows / cuts;
  const std::int64_t* first = targets + cut * size;
  return static_cast<double>(size - std::count(first, first + size, ignore_index));
}

template <class Number>
void LossRows::factors(Number* factors) const {
  const std::int64_t size = rows / cuts;
  for (std::int64_t cut = 0; cut < cuts; ++cut) {
    const double factor = mean ? 1 / counted(cut) : 1;
    for (std::int64_t r = cut * size; r < (cut + 1) * size; ++r) {
      factors[r] = targets[r] == ignore_index ? Number(0) : static_cast<Number>(factor);
    }
  }
}

template <class Number>
std::vector<Number> LossRows::reduce(const Number* losses) const {
  std::vector<Number> results;
  const std::int64_t size = rows / cuts;
  for (std::int64_t cut = 0; cut < cuts; ++cut) {
    const double sum = sum_of_losses(losses + cut * size, size);
    results.push_back(static_cast<Number>(mean ? sum / std::max(counted(cut), 1.0) : sum));
  }
  return results;
}

template <class Number>
void store_reduced(Kernel& k, std::vector<Number> results) {
  auto* out = k.output(0).data<Number>();
  if (k.per_microbatch()) {
    std::copy(results.begin(), results.end(), out);
    return;
  }
  tree_sum(results, std::ssize(results), 1);
  *out = results[0];
}

template <class Number>
CrossEntropyRowsOf<Number> rows_of_logits(const TensorImpl& logits, const Indices& targets,
                                          double smoothing, std::int64_t ignore_index) {
  CrossEntropyRowsOf<Number> c;
  c.rows = rows_of(logits), c.columns = logits.shape.back(), c.dtype = logits.dtype;
  c.logits = bytes_of(logits), c.targets = targets.data(), c.ignore_index = ignore_index;
  c.smoothing = static_cast<Number>(smoothing);
  return c;
}

template <class Number>
void run_forward(Kernel& k, const CrossEntropy::Attrs& attrs) {
  const TensorImpl& logits = k.input(0);
  const Indices targets(k.input(1));
  const auto c = rows_of_logits<Number>(logits, targets, attrs.label_smoothing, attrs.ignore_index);
  check_targets("cross_entropy", c);
  const bool reduced = attrs.reduction != LossReduction::none;
  std::vector<Number> own(reduced ? static_cast<std::size_t>(c.rows) : 0);
  Number* losses = reduced ? own.data() : k.output(0).data<Number>();
  cross_entropy_forward(c, losses, reinterpret_cast<LogSumOf<Number>*>(k.output(1).data<Number>()));
  const LossRows all{targets.data(), c.rows, k.microbatch_count(), attrs.ignore_index,
                     attrs.reduction == LossReduction::mean};
  all.factors(k.output(2).data<Number>());
  if (reduced) {
    store_reduced(k, all.reduce(losses));
  }
}

bool forward_kernel(Kernel& k, const CrossEntropy::Attrs& attrs) {
  const TensorImpl& logits = k.input(0);
  const bool wide = is_f64(logits) && are_outputs_of(k, DType::f64);
  if ((!wide && (!is_fast(logits) || !are_outputs_of(k, DType::f32))) || !cuts_rows(k, logits) ||
      logits.numel() == 0) {
    return false;
  }
  wide ? run_forward<double>(k, attrs) : run_forward<float>(k, attrs);
  return true;
}

template <class Number>
void run_backward(Kernel& k, const CrossEntropyBackward::Attrs& attrs) {
  const Indices targets(k.input(2));
  // Gradients of 0 say which rows are ignored.
  const auto c = rows_of_logits<Number>(k.input(1), targets, attrs.label_smoothing, -1);
  cross_entropy_backward(c, reinterpret_cast<const LogSumOf<Number>*>(k.input(3).data<Number>()),
                         k.input(0).data<Number>(), k.output().dtype, bytes_of(k.output()),
                         c.columns);
}

bool backward_kernel(Kernel& k, const CrossEntropyBackward::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& logits = k.input(1);
  const TensorImpl& sums = k.input(3);
  const bool wide = is_f64(gradient) && is_f64(logits) && is_f64(sums) && is_f64(k.output());
  if (!wide && (!is_f32(gradient) || !is_fast(logits) || !is_f32(sums) || !is_fast(k.output()))) {
    return false;
  }
  wide ? run_backward<double>(k, attrs) : run_backward<float>(k, attrs);
  return true;
}

const RegisterKernel<CrossEntropy, forward_kernel> register_cross_entropy{DeviceType::cpu};
const RegisterKernel<CrossEntropyBackward, backward_kernel> register_cross_entropy_backward{
    DeviceType::cpu};

/// One call of the fused kernel, forward or backward.
struct HeadCall {
  HeadCall(const TensorImpl& x, const TensorImpl& weight, const TensorImpl& targets_in,
           const LinearCrossEntropyAttrs& attrs)
      : targets(targets_in), losses(static_cast<std::size_t>(rows_of(x))) {
    head.rows = rows_of(x), head.columns = x.shape.back(), head.classes = weight.shape[0];
    head.dtype = x.dtype, head.x = bytes_of(x), head.weight = weight.data<float>();
    head.targets = targets.data(), head.ignore_index = attrs.ignore_index;
    head.smoothing = static_cast<float>(attrs.label_smoothing);
    head.cuts = x.microbatches().count, head.max_bytes = attrs.max_bytes;
    head.losses = losses.data();
    rows = {targets.data(), head.rows, head.cuts, attrs.ignore_index, true};
  }

  static bool fits(const TensorImpl& x, const TensorImpl& weight,
                   const LinearCrossEntropyAttrs& attrs) {
    return is_fast(x) && is_f32(weight) && x.dtype == attrs.dtype && x.numel() > 0 &&
           holds_runs_of_rows(x);
  }

  /// gradient(cut) is that of the microbatch's mean loss.
  template <class F>
  void want_gradients(const TensorImpl& dx, const TensorImpl& dweight, const F& gradient) {
    dlosses.resize(losses.size());
    rows.factors(dlosses.data());
    const std::int64_t size = head.rows / head.cuts;
    for (std::int64_t r = 0; r < head.rows; ++r) {
      dlosses[static_cast<std::size_t>(r)] *= gradient(r / size);
    }
    head.dlosses = dlosses.data();
    head.dx = bytes_of(dx);
    head.dweight = dweight.data<float>();
  }

  cpu::LinearCrossEntropy head;
  Indices targets;
  std::vector<float> losses, dlosses;
  LossRows rows;
};

bool forward_kernel(Kernel& k, const LinearCrossEntropyAttrs& attrs) {
  if (!HeadCall::fits(k.input(0), k.input(1), attrs) || !are_outputs_of(k, DType::f32)) {
    return false;
  }
  HeadCall call(k.input(0), k.input(1), k.input(2), attrs);
  if (attrs.gradients) {
    std::vector<float> expected;
    for (std::int64_t cut = 0; cut < call.head.cuts; ++cut) {
      expected.push_back(static_cast<float>(attrs.expected_of(call.rows.counted(cut))));
    }
    call.want_gradients(k.output(1), k.output(2),
                        [&](std::int64_t cut) { return expected[static_cast<std::size_t>(cut)]; });
  }
  linear_cross_entropy(call.head);
  const std::vector<float> results = call.rows.reduce(call.losses.data());
  std::copy(results.begin(), results.end(), k.output(0).data<float>());
  return true;
}

bool backward_kernel(Kernel& k, const LinearCrossEntropyBackward::Attrs& attrs) {
  if (!HeadCall::fits(k.input(1), k.input(2), attrs.head) || !are_outputs_of(k, DType::f32) ||
      !is_f32(k.input(0))) {
    return false;
  }
  HeadCall call(k.input(1), k.input(2), k.input(3), attrs.head);
  const float* gradients = k.input(0).data<float>();
  call.want_gradients(k.output(0), k.output(1), [=](std::int64_t cut) { return gradients[cut]; });
  call.head.per_microbatch = attrs.per_microbatch;
  linear_cross_entropy(call.head);
  return true;
}

const RegisterKernel<tessera::LinearCrossEntropy, forward_kernel> register_linear_cross_entropy{
    DeviceType::cpu};
const RegisterKernel<LinearCrossEntropyBackward, backward_kernel>
    register_linear_cross_entropy_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
