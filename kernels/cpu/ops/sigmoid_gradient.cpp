#include <tessera/core/ops/sigmoid_gradient.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<SigmoidGradient, gradient_kernel<SigmoidGradient, UnaryGradient::sigmoid>>
    registered{DeviceType::cpu};
}
}  // namespace tessera::cpu
