// A run of a tensor's elements as a tensor of its own.
#pragma once

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/ownership.h>

namespace tessera::optim {

/// The elements `range` of `x`, which is dense, in row-major order: `x` itself if they are all of
/// it, else a flat tensor on its memory, off the tape.
[[nodiscard]] inline Tensor flat_range(Tensor x, nn::ElementRange range) {
  const TensorImpl& whole = x.get();
  check<InternalError>(whole.contiguous(), "flat_range: the tensor is not dense");
  if (range.first == 0 && range.count == whole.numel()) {
    return x;
  }
  auto part = make_ref<TensorImpl>(whole.storage, Shape{range.count}, whole.dtype, whole.device);
  part->offset = whole.offset + range.first;
  return Tensor(std::move(part));
}

}  // namespace tessera::optim
