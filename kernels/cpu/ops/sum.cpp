#include <tessera/core/ops/sum.h>

#include <tessera/kernels/cpu/ops/reduce.h>

namespace tessera::cpu {
namespace {

bool sum_kernel(Kernel& k, const Sum::Attrs& attrs) {
  return run_sum(k, reduced_dims("sum", attrs, k.input().shape.size()), 1);
}

const RegisterKernel<Sum, sum_kernel> register_sum{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
