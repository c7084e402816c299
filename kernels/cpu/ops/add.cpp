#include <tessera/core/ops/add.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Add, binary_kernel<Add, Binary::add>> register_add{DeviceType::cpu};
}
}  // namespace tessera::cpu
