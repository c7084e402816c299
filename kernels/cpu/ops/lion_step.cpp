#include <tessera/core/ops/lion_step.h>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool lion_kernel(Kernel& k, const LionStep::Attrs& attrs) {
  return step_in_place<float>(k, 3, attrs, lion_step) ||
         step_in_place<double>(k, 3, attrs, lion_step);
}

const RegisterKernel<LionStep, lion_kernel> register_lion_step{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
