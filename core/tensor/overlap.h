// Whether tensors share elements.
#pragma once

#include <span>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

enum class Overlap : std::uint8_t {
  none,     ///< no element in common
  same,     ///< the same elements in the same order
  partial,  ///< possibly some, at different positions
};

[[nodiscard]] Overlap overlap_of(const Tensor& a, const Tensor& b);
/// The worst one with any of `others`.
[[nodiscard]] Overlap worst_overlap(const Tensor& x, std::span<const Tensor> others);

}  // namespace tessera
