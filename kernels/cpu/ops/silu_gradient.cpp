#include <tessera/core/ops/silu_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<SiluGradient, unary_gradient_kernel<SiluGradient, UnaryGradient::silu>>
    register_silu_gradient{DeviceType::cpu};
}
}  // namespace tessera::cpu
