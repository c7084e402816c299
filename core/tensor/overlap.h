// Whether tensors share elements.
#pragma once

#include <span>

#include <tessera/core/base/inline_vector.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

enum class Overlap : std::uint8_t {
  none,     ///< no element in common
  same,     ///< the same elements in the same order
  partial,  ///< possibly some, at different positions
};

[[nodiscard]] Overlap overlap_of(const Tensor& a, const Tensor& b);

/// Whether several elements of `x` lie on the same memory, as those of an expanded tensor do.
[[nodiscard]] bool repeats_elements(const TensorImpl& x);

/// Tensors, found by their storage: the steps of optimizers write hundreds of them.
class OverlapFinder {
 public:
  /// Keeps their addresses.
  explicit OverlapFinder(std::span<const Tensor> tensors);
  /// The worst overlap of `x` with any of them.
  [[nodiscard]] Overlap worst_with(const Tensor& x) const;

 private:
  struct Written {
    const Storage* storage;
    const Tensor* tensor;
  };
  InlineVector<Written, 3> by_storage_;
};

}  // namespace tessera
