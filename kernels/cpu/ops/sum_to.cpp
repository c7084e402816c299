#include <tessera/core/ops/sum_to.h>

#include <tessera/kernels/cpu/ops/reduce.h>

namespace tessera::cpu {
namespace {

bool sum_to_kernel(Kernel& k, const SumTo::Attrs& attrs) {
  const Shape& from = k.input().shape;
  const int offset = from.size() - attrs.shape.size();
  DimSet reduced{};
  for (int d = 0; d < from.size(); ++d) {
    reduced[static_cast<std::size_t>(d)] = d < offset || attrs.shape[d - offset] == 1;
  }
  return run_sum(k, reduced, 1);
}

const RegisterKernel<SumTo, sum_to_kernel> register_sum_to{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
