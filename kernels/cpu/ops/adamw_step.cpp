#include <tessera/core/ops/adamw_step.h>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool adamw_kernel(Kernel& k, const AdamwStep::Attrs& attrs) {
  return step_in_place<float>(k, attrs.amsgrad ? 5 : 4, attrs, adamw_step) ||
         step_in_place<double>(k, attrs.amsgrad ? 5 : 4, attrs, adamw_step);
}

const RegisterKernel<AdamwStep, adamw_kernel> register_adamw_step{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
