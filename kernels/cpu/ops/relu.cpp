#include <tessera/core/ops/relu.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Relu, unary_kernel<Relu, Unary::relu>> register_relu{DeviceType::cpu};
}
}  // namespace tessera::cpu
