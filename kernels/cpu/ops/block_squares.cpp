#include <tessera/core/ops/block_squares.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {
namespace {

static_assert(BlockSquares::kBlock == kSquareBlock);

void add_squares(const TensorImpl& x, double* sums) {
  if (x.dtype == DType::f64) {
    sum_of_squares(x.data<double>(), x.numel(), sums);
  } else {
    sum_of_squares(x.data<float>(), x.numel(), sums);
  }
}

bool block_squares_kernel(Kernel& k, const BlockSquares::Attrs&) {
  for (int i = 0; i < k.input_count(); ++i) {
    if (!(is_f32(k.input(i)) || is_f64(k.input(i))) || !k.output().contiguous()) {
      return false;
    }
  }
  auto* sums = k.output().data<double>();
  for (int i = 0; i < k.input_count(); ++i) {
    add_squares(k.input(i), sums);
    sums += BlockSquares::blocks(k.input(i).numel());
  }
  return true;
}

const RegisterKernel<BlockSquares, block_squares_kernel> register_block_squares{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
