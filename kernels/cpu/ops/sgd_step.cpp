#include <tessera/core/ops/sgd_step.h>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool sgd_kernel(Kernel& k, const SgdStep::Attrs& attrs) {
  return step_in_place<float>(k, attrs.momentum != 0 ? 3 : 2, attrs, sgd_step) ||
         step_in_place<double>(k, attrs.momentum != 0 ? 3 : 2, attrs, sgd_step);
}

const RegisterKernel<SgdStep, sgd_kernel> register_sgd_step{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
