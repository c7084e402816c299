#include <tessera/core/ops/minimum.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Minimum, binary_kernel<Minimum, Binary::minimum>> register_minimum{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
