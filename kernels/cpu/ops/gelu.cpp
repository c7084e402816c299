#include <tessera/core/ops/gelu.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

bool gelu_kernel(Kernel& k, const Gelu::Attrs& attrs) {
  return run_unary(k, attrs.tanh_form ? Unary::gelu_tanh : Unary::gelu_erf);
}

const RegisterKernel<Gelu, gelu_kernel> register_gelu{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
