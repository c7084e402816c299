#include <tessera/core/ops/log.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {
const RegisterKernel<Log, unary_kernel<Log, Unary::logarithm>> register_log{DeviceType::cpu};
}
}  // namespace tessera::cpu
