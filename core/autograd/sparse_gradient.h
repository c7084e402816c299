// The compact gradient of an embedding.
#pragma once

#include <span>
#include <vector>

#include <tessera/core/autograd/node.h>

namespace tessera {

/// The gradient of an embedding's rows, kept compact: `values`[i] belongs to row `ids`[i] of the
/// parameter. Both hold whole microbatches in order, `microbatch_count` of them.
struct SparseGradient {
  Tensor ids;     ///< (...) integers
  Tensor values;  ///< (..., width)
  std::int32_t microbatch_count = 1;
  std::int64_t first = 0;               ///< index in the global batch of the first microbatch
  std::vector<std::int64_t> lengths{};  ///< rows of each microbatch; empty: equally many in each

  [[nodiscard]] bool defined() const { return ids.defined(); }
  [[nodiscard]] std::int64_t count() const { return defined() ? ids.numel() : 0; }
  /// The row at which each microbatch begins and, last, the number of rows.
  [[nodiscard]] std::vector<std::int64_t> borders() const;
  /// These rows as those of microbatches [begin, begin + size), the others of which have none.
  /// Throws InternalError when some of the rows lie outside.
  [[nodiscard]] SparseGradient within(std::int64_t begin, std::int64_t size) const;
};

/// These rows with dense `ids`, i64 of shape (count), and `values` of shape (count, width).
[[nodiscard]] SparseGradient flattened(const SparseGradient& rows);

/// These rows in memory of their own: a program may write the next pass's ids, or the next seed,
/// into what it gave.
[[nodiscard]] SparseGradient kept_for_later(SparseGradient rows);

/// The rows of several uses in one pass: each microbatch holds its rows of the first use, then
/// those of the second, and so on.
[[nodiscard]] SparseGradient merge_uses(std::span<const SparseGradient> uses);

/// The rows of a step's passes, in order. Microbatches in between that brought none are empty.
[[nodiscard]] SparseGradient append_passes(std::span<const SparseGradient> passes);

/// Adds `rows` to `dense`, which may be undefined for zero. Per row of the parameter the values are
/// summed in order inside a microbatch, along the tree over microbatches, and added to `dense`
/// last.
[[nodiscard]] Tensor add_sparse(const Tensor& dense, const SparseGradient& rows,
                                const TensorMeta& parameter, const Tensor& destination = {});

}  // namespace tessera
