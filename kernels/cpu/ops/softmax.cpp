#include <tessera/core/ops/softmax.h>

#include <tessera/core/ops/log_softmax.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

/// softmax, or its logarithm, along the last dim of arrays that lie row behind row; false for
/// others.
template <class Op, bool logarithm>
bool softmax_kernel(Kernel& k, const typename Op::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(x) || !is_fast_or_f64(y) || x.dtype != y.dtype ||
      attrs.dim != x.shape.size() - 1) {
    return false;
  }
  softmax_forward(x.dtype, bytes_of(x), bytes_of(y), rows_of(x), x.shape.back(), logarithm);
  return true;
}

/// The gradient of its input, from its output's and the output.
template <class Op, bool logarithm>
bool softmax_backward_kernel(Kernel& k, const typename Op::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& y = k.input(1);
  const TensorImpl& dx = k.output();
  if (!is_fast_or_f64(gradient) || !is_fast_or_f64(y) || !is_fast_or_f64(dx) ||
      gradient.dtype != y.dtype || dx.dtype != y.dtype || attrs.dim != y.shape.size() - 1) {
    return false;
  }
  softmax_backward(y.dtype, bytes_of(y), bytes_of(gradient), bytes_of(dx), rows_of(y),
                   y.shape.back(), logarithm);
  return true;
}

const RegisterKernel<Softmax, softmax_kernel<Softmax, false>> register_softmax{DeviceType::cpu};
const RegisterKernel<LogSoftmax, softmax_kernel<LogSoftmax, true>> register_log_softmax{
    DeviceType::cpu};
const RegisterKernel<SoftmaxBackward, softmax_backward_kernel<SoftmaxBackward, false>>
    register_softmax_backward{DeviceType::cpu};
const RegisterKernel<LogSoftmaxBackward, softmax_backward_kernel<LogSoftmaxBackward, true>>
    register_log_softmax_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
