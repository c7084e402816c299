#include <tessera/core/ops/sigmoid_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<SigmoidGradient,
                     unary_gradient_kernel<SigmoidGradient, UnaryGradient::sigmoid>>
    register_sigmoid_gradient{DeviceType::cpu};
}
}  // namespace tessera::cpu
