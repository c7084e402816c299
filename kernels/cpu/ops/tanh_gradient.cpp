#include <tessera/core/ops/tanh_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<TanhGradient, unary_gradient_kernel<TanhGradient, UnaryGradient::tanh>>
    register_tanh_gradient{DeviceType::cpu};
}
}  // namespace tessera::cpu
