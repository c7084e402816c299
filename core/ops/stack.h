// Joining tensors along a new dim, and taking them apart. Written with other ops.
#pragma once

#include <vector>

#include <tessera/core/ops/concat.h>

namespace tessera {

/// Tensors of equal shape, joined along a new dim `dim`.
[[nodiscard]] Tensor stack(std::span<const TensorRef> pieces, int dim = 0);
[[nodiscard]] Tensor stack(std::initializer_list<TensorRef> pieces, int dim = 0);
/// Views of `size` elements each along `dim`; the last one may be shorter.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, std::int64_t size, int dim = 0);
/// Views of the given sizes along `dim`, which must sum to its size.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes,
                                        int dim = 0);

}  // namespace tessera
