#include <tessera/core/ops/sub.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Sub, binary_kernel<Sub, Binary::subtract>> register_sub{DeviceType::cpu};
}
}  // namespace tessera::cpu
