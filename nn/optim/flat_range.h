// A run of a tensor's elements as a flat tensor of its own.
#pragma once

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/synchronizer.h>

namespace tessera::optim {

/// The elements `range` of `x`, dense, in row-major order: shares its memory, off the tape.
[[nodiscard]] inline Tensor flat_range(const Tensor& x, nn::ElementRange range) {
  const TensorImpl& whole = x.get();
  check<InternalError>(whole.contiguous(), "flat_range: the tensor is not dense");
  auto part = make_ref<TensorImpl>(whole.storage, Shape{range.count}, whole.dtype, whole.device);
  part->offset = whole.offset + range.first;
  return Tensor(std::move(part));
}

}  // namespace tessera::optim
