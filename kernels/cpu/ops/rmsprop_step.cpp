#include <tessera/core/ops/rmsprop_step.h>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool rmsprop_kernel(Kernel& k, const RmspropStep::Attrs& attrs) {
  const int members = 3 + (attrs.centered ? 1 : 0) + (attrs.momentum != 0 ? 1 : 0);
  return step_in_place<float>(k, members, attrs, rmsprop_step) ||
         step_in_place<double>(k, members, attrs, rmsprop_step);
}

const RegisterKernel<RmspropStep, rmsprop_kernel> register_rmsprop_step{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
