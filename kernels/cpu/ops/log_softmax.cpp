#include <tessera/core/ops/log_softmax.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

bool forward_kernel(Kernel& k, const LogSoftmax::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!is_fast(x) || !is_fast(y) || x.dtype != y.dtype || attrs.dim != x.shape.size() - 1) {
    return false;
  }
  softmax_forward(x.dtype, bytes_of(x), bytes_of(y), rows_of(x), x.shape.back(), true);
  return true;
}

bool backward_kernel(Kernel& k, const LogSoftmaxBackward::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& y = k.input(1);
  const TensorImpl& dx = k.output();
  if (!is_fast(gradient) || !is_fast(y) || !is_fast(dx) || gradient.dtype != y.dtype ||
      dx.dtype != y.dtype || attrs.dim != y.shape.size() - 1) {
    return false;
  }
  softmax_backward(y.dtype, bytes_of(y), bytes_of(gradient), bytes_of(dx), rows_of(y),
                   y.shape.back(), true);
  return true;
}

const RegisterKernel<LogSoftmax, forward_kernel> registered{DeviceType::cpu};
const RegisterKernel<LogSoftmaxBackward, backward_kernel> registered_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
