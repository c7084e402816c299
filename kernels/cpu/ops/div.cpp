#include <tessera/core/ops/div.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Div, binary_kernel<Div, Binary::divide>> register_div{DeviceType::cpu};
}
}  // namespace tessera::cpu
