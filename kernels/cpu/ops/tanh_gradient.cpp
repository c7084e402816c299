#include <tessera/core/ops/tanh_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<TanhGradient, gradient_kernel<TanhGradient, UnaryGradient::tanh>> registered{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
