#include <tessera/core/ops/mul.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Mul, binary_kernel<Mul, Binary::multiply>> register_mul{DeviceType::cpu};
}
}  // namespace tessera::cpu
