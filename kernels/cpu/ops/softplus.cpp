#include <tessera/core/ops/softplus.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

bool softplus_kernel(Kernel& k, const Softplus::Attrs& attrs) {
  return run_parametric(k, Parametric::softplus, {attrs.beta, attrs.threshold});
}

const RegisterKernel<Softplus, softplus_kernel> register_softplus{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
