#include <tessera/kernels/cpu/copy.h>

#include <algorithm>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

bool copy_kernel(Kernel& k, const Copy::Attrs&) {
  const TensorImpl& from = k.input(1);
  const TensorImpl& to = k.output();
  if (from.dtype != to.dtype || from.storage == to.storage) {
    return false;
  }
  copy_strided(to.shape, size_of(to.dtype), {bytes_of(from), broadcast_strides(from, to.shape)},
               {bytes_of(to), to.strides});
  return true;
}

const RegisterKernel<Copy, copy_kernel> register_copy{DeviceType::cpu};

bool cast_kernel(Kernel& k, const Cast::Attrs&) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (x.dtype == y.dtype) {
    copy_strided(x.shape, size_of(x.dtype), {bytes_of(x), x.strides}, {bytes_of(y), y.strides});
    return true;
  }
  if (!is_fast(x.dtype) || !is_fast(y)) {
    return false;
  }
  cast(x.dtype, DenseOperand(x).data(), y.dtype, bytes_of(y), x.numel());
  return true;
}

const RegisterKernel<Cast, cast_kernel> register_cast{DeviceType::cpu};

bool concat_kernel(Kernel& k, const Concat::Attrs& attrs) {
  const TensorImpl& y = k.output();
  for (int i = 0; i < k.input_count(); ++i) {
    if (k.input(i).dtype != y.dtype) {
      return false;
    }
  }
  const int dim = normalize_dim("concat", attrs.dim, y.shape.size());
  const std::size_t size = size_of(y.dtype);
  char* to = bytes_of(y);
  for (int i = 0; i < k.input_count(); ++i) {
    const TensorImpl& x = k.input(i);
    copy_strided(x.shape, size, {bytes_of(x), x.strides}, {to, y.strides});
    to += x.shape[dim] * y.strides[dim] * static_cast<std::int64_t>(size);
  }
  return true;
}

const RegisterKernel<Concat, concat_kernel> register_concat{DeviceType::cpu};

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
