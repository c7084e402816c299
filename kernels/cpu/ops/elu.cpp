#include <tessera/core/ops/elu.h>

#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

bool elu_kernel(Kernel& k, const Elu::Attrs& attrs) {
  if (attrs.input_scale < 0) {
    return false;
  }
  return run_parametric(k, Parametric::elu,
                        {attrs.alpha * attrs.scale, attrs.scale, attrs.input_scale});
}

const RegisterKernel<Elu, elu_kernel> register_elu{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
