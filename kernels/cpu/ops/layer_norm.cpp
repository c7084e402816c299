#include <tessera/core/ops/layer_norm.h>

#include <tessera/kernels/cpu/ops/norm.h>

namespace tessera::cpu {
namespace {

bool layer_norm_kernel(Kernel& k, const LayerNorm::Attrs& attrs) {
  return run_norm(k, attrs, true);
}
bool layer_norm_backward_kernel(Kernel& k, const LayerNormBackward::Attrs& attrs) {
  return run_norm_backward(k, attrs, true);
}

const RegisterKernel<LayerNorm, layer_norm_kernel> register_layer_norm{DeviceType::cpu};
const RegisterKernel<LayerNormBackward, layer_norm_backward_kernel> register_layer_norm_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
