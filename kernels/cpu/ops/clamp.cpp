#include <tessera/core/ops/clamp.h>

#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

bool clamp_kernel(Kernel& k, const Clamp::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!is_fast(y) || x.dtype != y.dtype) {
    return false;
  }
  clamp(x.dtype, DenseOperand(x).data(), static_cast<float>(attrs.low),
        static_cast<float>(attrs.high), bytes_of(y), y.numel());
  return true;
}

const RegisterKernel<Clamp, clamp_kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
