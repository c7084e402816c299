#include <tessera/core/ops/adagrad_step.h>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool adagrad_kernel(Kernel& k, const AdagradStep::Attrs& attrs) {
  return step_in_place<float>(k, 3, attrs, adagrad_step) ||
         step_in_place<double>(k, 3, attrs, adagrad_step);
}

const RegisterKernel<AdagradStep, adagrad_kernel> register_adagrad_step{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
