#include <tessera/core/ops/cast.h>

#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

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

}  // namespace
}  // namespace tessera::cpu
