#include <tessera/core/ops/rms_norm.h>

#include <tessera/kernels/cpu/ops/norm.h>

namespace tessera::cpu {
namespace {

bool rms_norm_kernel(Kernel& k, const RmsNorm::Attrs& attrs) {
  return run_norm(k, attrs, false);
}
bool rms_norm_backward_kernel(Kernel& k, const RmsNormBackward::Attrs& attrs) {
  return run_norm_backward(k, attrs, false);
}

const RegisterKernel<RmsNorm, rms_norm_kernel> register_rms_norm{DeviceType::cpu};
const RegisterKernel<RmsNormBackward, rms_norm_backward_kernel> register_rms_norm_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
