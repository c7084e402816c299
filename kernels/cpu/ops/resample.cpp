#include <tessera/core/ops/resample.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/resample.h>

namespace tessera::cpu {
namespace {

template <void (*run)(const Resampling&, std::int64_t, DType, const void*, void*)>
bool resample_kernel(Kernel& k, const Resampling& attrs) {
  const TensorImpl& x = k.input();
  if (!is_fast(x) || !is_fast(k.output())) {
    return false;
  }
  run(attrs, x.shape[0] * x.shape[1], x.dtype, bytes_of(x), bytes_of(k.output()));
  return true;
}

const RegisterKernel<Resample, resample_kernel<resample>> register_resample{DeviceType::cpu};
const RegisterKernel<ResampleBackward, resample_kernel<resample_backward>>
    register_resample_gradient{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
