#include <tessera/core/ops/maximum.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Maximum, binary_kernel<Maximum, Binary::maximum>> register_maximum{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
