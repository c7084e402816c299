#include <tessera/core/ops/block_squares.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {
namespace {

static_assert(BlockSquares::kBlock == kSquareBlock);

bool kernel(Kernel& k, const BlockSquares::Attrs&) {
  for (int i = 0; i < k.input_count(); ++i) {
    if (!is_f32(k.input(i))) {
      return false;
    }
  }
  for (int i = 0; i < k.input_count(); ++i) {
    const TensorImpl& x = k.input(i);
    sum_of_squares(x.data<float>(), x.numel(), k.output(i).data<double>());
  }
  return true;
}

const RegisterKernel<BlockSquares, kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
