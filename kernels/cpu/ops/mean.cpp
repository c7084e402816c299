#include <tessera/core/ops/mean.h>

#include <tessera/kernels/cpu/ops/reduce.h>

namespace tessera::cpu {
namespace {

bool mean_kernel(Kernel& k, const Mean::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const auto outputs = static_cast<double>(k.output().numel());
  return run_sum(k, reduced_dims("mean", attrs, x.shape.size()),
                 outputs / static_cast<double>(x.numel()));
}

const RegisterKernel<Mean, mean_kernel> register_mean{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
