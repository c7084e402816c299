#include <tessera/core/ops/pad.h>

#include <algorithm>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

void fill_with(Number value, const TensorImpl& y) {
  visit_dtype(y.dtype, [&]<class T>() {
    const T element = value.visit([](auto number) { return convert<T>(number); });
    for_ranges(y.numel(), kElementwiseStep, [&](std::int64_t first, std::int64_t count) {
      std::fill_n(y.data<T>() + first, count, element);
    });
  });
}

bool pad_kernel(Kernel& k, const Pad::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!y.contiguous()) {
    return false;
  }
  fill_with(attrs.value, y);
  const std::size_t size = size_of(y.dtype);
  Strides to = y.strides;
  std::int64_t first = 0;
  for (int d = 0; d < y.shape.size(); ++d) {
    first += attrs.before[d] * to[d];
    to[d] *= (attrs.between.empty() ? 0 : attrs.between[d]) + 1;
  }
  copy_strided(x.shape, size, {bytes_of(x), x.strides},
               {bytes_of(y) + first * static_cast<std::int64_t>(size), to});
  return true;
}

const RegisterKernel<Pad, pad_kernel> register_pad{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
