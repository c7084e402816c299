#include <tessera/core/ops/gelu_gradient.h>

#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

bool gelu_gradient_kernel(Kernel& k, const GeluGradient::Attrs& attrs) {
  const TensorImpl& g = k.input(0);
  const TensorImpl& x = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast(y) || g.dtype != y.dtype || x.dtype != y.dtype || g.shape != x.shape) {
    return false;
  }
  map_gradient(attrs.tanh_form ? UnaryGradient::gelu_tanh : UnaryGradient::gelu_erf, y.dtype,
               DenseOperand(x).data(), DenseOperand(g).data(), bytes_of(y), y.numel());
  return true;
}

const RegisterKernel<GeluGradient, gelu_gradient_kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
