#include <tessera/core/ops/cross_entropy.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ops/loss_rows.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

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
void run_forward(Kernel& k, const CrossEntropy::Attrs& attrs) {
  const TensorImpl& logits = k.input(0);
  const Indices targets(k.input(1));
  CrossEntropyRowsOf<Number> c;
  c.rows = rows_of(logits), c.columns = logits.shape.back(), c.dtype = logits.dtype;
  c.logits = bytes_of(logits), c.targets = targets.data(), c.ignore_index = attrs.ignore_index;
  c.smoothing = static_cast<Number>(attrs.label_smoothing);
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
  const bool wide = is_f64(logits) && has_f64_outputs(k);
  if ((!wide && (!is_fast(logits) || !has_fast_outputs(k))) || !cuts_rows(k, logits) ||
      logits.numel() == 0) {
    return false;
  }
  wide ? run_forward<double>(k, attrs) : run_forward<float>(k, attrs);
  return true;
}

/// Rows whose gradients say by 0 which of them count.
template <class Number>
CrossEntropyRowsOf<Number> rows_without_ignored(const TensorImpl& logits, const Indices& targets,
                                                const CrossEntropyBackward::Attrs& attrs) {
  CrossEntropyRowsOf<Number> c;
  c.rows = rows_of(logits), c.columns = logits.shape.back(), c.dtype = logits.dtype;
  c.logits = bytes_of(logits), c.targets = targets.data(), c.ignore_index = -1;
  c.smoothing = static_cast<Number>(attrs.label_smoothing);
  return c;
}

template <class Number>
void run_backward(Kernel& k, const CrossEntropyBackward::Attrs& attrs) {
  const Indices targets(k.input(2));
  const auto c = rows_without_ignored<Number>(k.input(1), targets, attrs);
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

}  // namespace
}  // namespace tessera::cpu
