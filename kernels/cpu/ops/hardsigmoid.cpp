#include <tessera/core/ops/hardsigmoid.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Hardsigmoid, unary_kernel<Hardsigmoid, Unary::hard_sigmoid>>
    register_hardsigmoid{DeviceType::cpu};
}
}  // namespace tessera::cpu
