// Masks of attention layers, joined.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// (queries, keys), true where the key comes after the query: what a causal mask hides.
[[nodiscard]] Tensor causal_mask(std::int64_t queries, std::int64_t keys, Device device = {});

/// What is added to `scores` (N, heads, L, S), in a shape that broadcasts to it: of `attn_mask`
/// (L, S) or (N * heads, L, S) and `key_padding_mask` (N, S), bool, true where a key is hidden, or
/// floating. Undefined when both are. Throws InvalidArgument for other dtypes and shapes.
[[nodiscard]] Tensor joined_mask(const Tensor& attn_mask, const Tensor& key_padding_mask,
                                 const Shape& scores, DType dtype);

/// A mask of `dtype` that is added to scores: -inf where a bool one is true.
[[nodiscard]] Tensor additive_mask(const Tensor& mask, DType dtype);

}  // namespace tessera::nn
