#include <tessera/core/ops/silu.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Silu, unary_kernel<Silu, Unary::silu>> register_silu{DeviceType::cpu};
}
}  // namespace tessera::cpu
