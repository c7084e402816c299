#include <tessera/core/ops/relu_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<ReluGradient, gradient_kernel<ReluGradient, UnaryGradient::relu>> registered{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
