#include <tessera/kernels/cpu/ops/softmax.h>

#include <tessera/core/ops/softmax.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {

bool run_softmax(Kernel& k, const AlongDimAttrs& attrs, bool logarithm) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(x) || !is_fast_or_f64(y) || x.dtype != y.dtype ||
      attrs.dim != x.shape.size() - 1) {
    return false;
  }
  softmax_forward(x.dtype, bytes_of(x), bytes_of(y), rows_of(x), x.shape.back(), logarithm);
  return true;
}

bool run_softmax_backward(Kernel& k, const AlongDimAttrs& attrs, bool logarithm) {
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

namespace {

bool softmax_kernel(Kernel& k, const Softmax::Attrs& attrs) {
  return run_softmax(k, attrs, false);
}
bool softmax_backward_kernel(Kernel& k, const SoftmaxBackward::Attrs& attrs) {
  return run_softmax_backward(k, attrs, false);
}

const RegisterKernel<Softmax, softmax_kernel> register_softmax{DeviceType::cpu};
const RegisterKernel<SoftmaxBackward, softmax_backward_kernel> register_softmax_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
