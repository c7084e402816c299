#include <tessera/core/ops/abs.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Abs, unary_kernel<Abs, Unary::absolute>> register_abs{DeviceType::cpu};
}
}  // namespace tessera::cpu
