#include <tessera/core/ops/silu_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<SiluGradient, gradient_kernel<SiluGradient, UnaryGradient::silu>> registered{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
