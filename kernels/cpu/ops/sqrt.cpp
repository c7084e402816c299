#include <tessera/core/ops/sqrt.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Sqrt, unary_kernel<Sqrt, Unary::square_root>> register_sqrt{DeviceType::cpu};
}
}  // namespace tessera::cpu
