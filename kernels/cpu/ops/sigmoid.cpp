#include <tessera/core/ops/sigmoid.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Sigmoid, unary_kernel<Sigmoid, Unary::sigmoid>> register_sigmoid{
    DeviceType::cpu};
}
}  // namespace tessera::cpu
