#include <tessera/core/ops/concat.h>

#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

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

}  // namespace
}  // namespace tessera::cpu
