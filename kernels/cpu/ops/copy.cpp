#include <tessera/core/ops/copy.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>

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

}  // namespace
}  // namespace tessera::cpu
