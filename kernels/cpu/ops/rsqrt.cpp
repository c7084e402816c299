#include <tessera/core/ops/rsqrt.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Rsqrt, unary_kernel<Rsqrt, Unary::reciprocal_square_root>> register_rsqrt{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
