#include <tessera/core/ops/erf.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Erf, unary_kernel<Erf, Unary::erf>> register_erf{DeviceType::cpu};
}
}  // namespace tessera::cpu
