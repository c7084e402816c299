#include <tessera/core/ops/relu_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<ReluGradient, unary_gradient_kernel<ReluGradient, UnaryGradient::relu>>
    register_relu_gradient{DeviceType::cpu};
}
}  // namespace tessera::cpu
