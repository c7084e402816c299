// The compact gradient of an embedding.
#pragma once

#include <span>

#include <tessera/core/autograd/node.h>

namespace tessera {

/// The gradient of an embedding's rows, kept compact: `values`[i] belongs to row `ids`[i] of the
/// parameter. Both hold whole microbatches in order; `parts` of them, each as long as the others.
struct RowGradient {
  Tensor ids;     ///< (...) integers
  Tensor values;  ///< (..., width)
  std::int32_t parts = 1;

  [[nodiscard]] bool defined() const { return ids.defined(); }
  [[nodiscard]] std::int64_t count() const { return defined() ? ids.numel() : 0; }
};

/// The rows of several uses in one pass: each microbatch holds its rows of the first use, then
/// those of the second, and so on.
[[nodiscard]] RowGradient merge_uses(std::span<const RowGradient> uses);

/// The rows of consecutive passes. Throws Unsupported when their microbatches differ in length.
[[nodiscard]] RowGradient append_passes(std::span<const RowGradient> passes);

/// Adds `rows` to `dense`, which may be undefined for zero. Per row of the parameter the values are
/// summed in order inside a microbatch, along the tree over microbatches, and added to `dense`
/// last.
[[nodiscard]] Tensor add_rows(const Tensor& dense, const RowGradient& rows,
                              const TensorMeta& parameter, const Tensor& destination = {});

}  // namespace tessera
