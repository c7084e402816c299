#include <tessera/core/ops/exp.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Exp, unary_kernel<Exp, Unary::exp>> register_exp{DeviceType::cpu};
}
}  // namespace tessera::cpu
