// Ops on planes of images, each by itself.
#include <tessera/core/ops/max_pool.h>
#include <tessera/core/ops/resample.h>
#include <tessera/kernels/cpu/max_pool.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/resample.h>

namespace tessera::cpu {
namespace {

bool max_pool_kernel(Kernel& k, const MaxPool::Attrs& attrs) {
  if (!is_fast(k.input()) || !is_fast(k.output(0)) || !k.output(1).contiguous()) {
    return false;
  }
  max_pool(pool_geometry(k.op(), k.input().shape, attrs), k.input().dtype, bytes_of(k.input()),
           bytes_of(k.output(0)), k.output(1).data<std::int64_t>());
  return true;
}

bool gradient_kernel(Kernel& k, const MaxPoolBackward::Attrs&) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.output();
  if (!is_fast(gradient) || !is_fast(x) || !k.input(1).contiguous()) {
    return false;
  }
  const std::int64_t planes = x.shape[0] * x.shape[1];
  // The reference says which index lies outside.
  return max_pool_backward(planes, x.numel() / planes, gradient.numel() / planes, x.dtype,
                           bytes_of(gradient), k.input(1).data<std::int64_t>(), bytes_of(x));
}

const RegisterKernel<MaxPool, max_pool_kernel> register_max_pool{DeviceType::cpu};
const RegisterKernel<MaxPoolBackward, gradient_kernel> register_max_pool_gradient{DeviceType::cpu};

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
