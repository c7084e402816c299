#include <tessera/core/ops/tanh.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Tanh, unary_kernel<Tanh, Unary::tanh>> register_tanh{DeviceType::cpu};
}
}  // namespace tessera::cpu
