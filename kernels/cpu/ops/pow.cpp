#include <tessera/core/ops/pow.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Squares and reciprocals, whose bits are those of the power.
bool pow_kernel(Kernel& k, const Pow::Attrs&) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& exponent = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y) || x.dtype != y.dtype || x.shape != y.shape || exponent.numel() != 1 ||
      is_complex(exponent.dtype)) {
    return false;
  }
  const auto power = load_as<double>(exponent, 0);
  if (power != 2 && power != -1) {
    return false;
  }
  map(power == 2 ? Unary::square : Unary::reciprocal, x.dtype, DenseOperand(x).data(), bytes_of(y),
      y.numel());
  return true;
}

const RegisterKernel<Pow, pow_kernel> register_pow{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
