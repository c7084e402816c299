// Reference sums over the rows of a batch that are more than sums of elements.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/dispatch/kernel.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {

/// The microbatch, in [0, microbatch_count), of every row of `x` (..., width), rows in row-major
/// order.
[[nodiscard]] std::vector<std::int32_t> microbatch_of_rows(const TensorImpl& x,
                                                           std::int32_t microbatch_count);

/// Writes sums that were formed once a microbatch, `pieces` [microbatches][count], into `out`: one
/// by one if `per_microbatch`, else added along the tree. Every piece is rounded once, to the dtype
/// in which it is added: that of `out`, or f32 for 16-bit floats.
template <class C>
void store_microbatch_sums(TensorImpl& out, std::vector<C> pieces, std::int32_t microbatch_count,
                           bool per_microbatch) {
  const DType adding = size_of(out.dtype) < 4 && is_floating(out.dtype) ? DType::f32 : out.dtype;
  round_values(pieces, adding);
  if (!per_microbatch) {
    const auto count = static_cast<std::int64_t>(pieces.size()) / microbatch_count;
    add_along_tree(microbatch_count, [&](std::int64_t into, std::int64_t from) {
      std::vector<C> sum(pieces.begin() + into * count, pieces.begin() + (into + 1) * count);
      for (std::int64_t i = 0; i < count; ++i) {
        sum[static_cast<std::size_t>(i)] += pieces[static_cast<std::size_t>(from * count + i)];
      }
      round_values(sum, adding);  // f32 addition is double addition rounded once
      std::ranges::copy(sum, pieces.begin() + into * count);
    });
    pieces.resize(static_cast<std::size_t>(count));
  }
  store_values(out, pieces);
}

/// Stores the sums of `pieces` for the microbatches and in the form that the kernel is asked for.
template <class C>
void store_microbatch_sums(const Kernel& k, TensorImpl& out, std::vector<C> pieces) {
  store_microbatch_sums(out, std::move(pieces), k.microbatch_count(), k.per_microbatch());
}

}  // namespace tessera
