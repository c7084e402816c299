#include <tessera/core/ops/pad.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

bool pad_kernel(Kernel& k, const Pad::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (x.dtype != y.dtype || !is_fast(x.dtype) || !attrs.between.empty()) {
    return false;
  }
  const std::size_t size = size_of(y.dtype);
  std::int64_t first = 0;
  for (int d = 0; d < y.shape.size(); ++d) {
    first += attrs.before[d] * y.strides[d];
  }
  const auto value = static_cast<float>(attrs.value.real());
  const BFloat16 half(value);
  const void* filler = x.dtype == DType::bf16 ? static_cast<const void*>(&half) : &value;
  copy_strided(y.shape, size, {static_cast<const char*>(filler), Dims::filled(y.shape.size(), 0)},
               {bytes_of(y), y.strides});
  copy_strided(x.shape, size, {bytes_of(x), x.strides},
               {bytes_of(y) + first * static_cast<std::int64_t>(size), y.strides});
  return true;
}

const RegisterKernel<Pad, pad_kernel> register_pad{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
