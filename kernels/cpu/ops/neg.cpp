#include <tessera/core/ops/neg.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Neg, unary_kernel<Neg, Unary::negate>> register_neg{DeviceType::cpu};
}
}  // namespace tessera::cpu
