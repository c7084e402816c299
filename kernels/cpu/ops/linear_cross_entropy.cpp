#include <tessera/core/ops/linear_cross_entropy.h>

#include <algorithm>
#include <vector>

#include <tessera/kernels/cpu/linear_cross_entropy.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ops/loss_rows.h>

namespace tessera::cpu {
namespace {

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
  if (!HeadCall::fits(k.input(0), k.input(1), attrs) || !has_fast_outputs(k)) {
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
  if (!HeadCall::fits(k.input(1), k.input(2), attrs.head) || !has_fast_outputs(k) ||
      !is_f32(k.input(0))) {
    return false;
  }
  HeadCall call(k.input(1), k.input(2), k.input(3), attrs.head);
  const float* gradients = k.input(0).data<float>();
  call.want_gradients(k.output(0), k.output(1), [=](std::int64_t cut) { return gradients[cut]; });
  call.head.stacked = attrs.stacked;
  linear_cross_entropy(call.head);
  return true;
}

const RegisterKernel<tessera::LinearCrossEntropy, forward_kernel> register_linear_cross_entropy{
    DeviceType::cpu};
const RegisterKernel<LinearCrossEntropyBackward, backward_kernel>
    register_linear_cross_entropy_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
