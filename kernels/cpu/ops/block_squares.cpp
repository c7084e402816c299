#include <tessera/core/ops/block_squares.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {
namespace {

static_assert(BlockSquares::kBlock == kSquareBlock);

bool block_squares_kernel(Kernel& k, const BlockSquares::Attrs&) {
  for (int i = 0; i < k.input_count(); ++i) {
    if (!is_f32(k.input(i)) || !k.output().contiguous()) {
      return false;
    }
  }
  auto* sums = k.output().data<double>();
  for (int i = 0; i < k.input_count(); ++i) {
    const std::int64_t count = k.input(i).numel();
    sum_of_squares(k.input(i).data<float>(), count, sums);
    sums += BlockSquares::blocks(count);
  }
  return true;
}

const RegisterKernel<BlockSquares, block_squares_kernel> register_block_squares{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
