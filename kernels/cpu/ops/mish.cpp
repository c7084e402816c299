#include <tessera/core/ops/mish.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Mish, unary_kernel<Mish, Unary::mish>> register_mish{DeviceType::cpu};
}
}  // namespace tessera::cpu
