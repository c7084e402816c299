#include <tessera/core/ops/rms_norm.h>

#include <tessera/kernels/cpu/ops/norm.h>

namespace tessera::cpu {
namespace {

bool forward_kernel(Kernel& k, const RmsNorm::Attrs& attrs) {
  return run_norm(k, attrs, false);
}
bool backward_kernel(Kernel& k, const RmsNormBackward::Attrs& attrs) {
  return run_norm_backward(k, attrs, false);
}

const RegisterKernel<RmsNorm, forward_kernel> registered{DeviceType::cpu};
const RegisterKernel<RmsNormBackward, backward_kernel> registered_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
