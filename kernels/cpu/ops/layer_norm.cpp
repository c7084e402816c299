#include <tessera/core/ops/layer_norm.h>

#include <tessera/kernels/cpu/ops/norm.h>

namespace tessera::cpu {
namespace {

bool forward_kernel(Kernel& k, const LayerNorm::Attrs& attrs) {
  return run_norm(k, attrs, true);
}
bool backward_kernel(Kernel& k, const LayerNormBackward::Attrs& attrs) {
  return run_norm_backward(k, attrs, true);
}

const RegisterKernel<LayerNorm, forward_kernel> registered{DeviceType::cpu};
const RegisterKernel<LayerNormBackward, backward_kernel> registered_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
