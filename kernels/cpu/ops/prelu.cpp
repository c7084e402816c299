#include <tessera/core/ops/prelu.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Prelu, binary_kernel<Prelu, Binary::prelu>> register_prelu{DeviceType::cpu};
}
}  // namespace tessera::cpu
