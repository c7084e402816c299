#include <tessera/core/ops/gelu.h>

#include <tessera/core/ops/gelu_backward.h>
#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

bool gelu_kernel(Kernel& k, const Gelu::Attrs& attrs) {
  return run_unary(k, attrs.tanh_form ? Unary::gelu_tanh : Unary::gelu_erf);
}
bool gelu_gradient_kernel(Kernel& k, const GeluBackward::Attrs& attrs) {
  return run_gradient(k, attrs.tanh_form ? UnaryGradient::gelu_tanh : UnaryGradient::gelu_erf);
}

const RegisterKernel<Gelu, gelu_kernel> register_gelu{DeviceType::cpu};
const RegisterKernel<GeluBackward, gelu_gradient_kernel> register_gelu_gradient{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
