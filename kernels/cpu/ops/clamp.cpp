#include <tessera/core/ops/clamp.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

bool clamp_kernel(Kernel& k, const Clamp::Attrs& attrs) {
  return run_parametric(k, Parametric::clamp, {attrs.low.real(), attrs.high.real()});
}

const RegisterKernel<Clamp, clamp_kernel> register_clamp{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
