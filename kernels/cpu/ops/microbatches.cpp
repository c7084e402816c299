#include <tessera/core/ops/microbatches.h>

#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/row_sums.h>

namespace tessera::cpu {
namespace {

bool join_kernel(Kernel& k, const JoinMicrobatches::Attrs& attrs) {
  const TensorImpl& y = k.output();
  const int dim = attrs.dim < 0 ? 0 : attrs.dim;
  const std::int64_t step = y.strides[dim] * (y.shape[dim] / k.input_count()) *
                            static_cast<std::int64_t>(size_of(y.dtype));
  Strides strides = y.strides;
  if (attrs.dim < 0) {
    strides.erase(0);
  }
  for (int m = 0; m < k.input_count(); ++m) {
    const TensorImpl& piece = k.input(m);
    copy_strided(piece.shape, size_of(y.dtype), {bytes_of(piece), piece.strides},
                 {bytes_of(y) + m * step, strides});
  }
  return true;
}

bool sum_kernel(Kernel& k, const SumMicrobatches::Attrs&) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (is_f64(x) && is_f64(y)) {
    add_microbatches(x.data<double>(), x.shape[0], y.numel(), y.data<double>());
    return true;
  }
  if (!is_fast(x) || !is_fast(y)) {
    return false;
  }
  const FloatOperand pieces(k, 0);
  const FloatResult sums(y, k.workspace());
  add_microbatches(pieces.data(), x.shape[0], y.numel(), sums.data());
  sums.store();
  return true;
}

const RegisterKernel<JoinMicrobatches, join_kernel> register_join_microbatches{DeviceType::cpu};
const RegisterKernel<SumMicrobatches, sum_kernel, bytes_of_sums> register_sum_microbatches{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
