// Reference sums over the rows of a batch that are more than sums of elements.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include <tessera/core/dispatch/kernel.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/microbatch_sum.h>

namespace tessera {

/// The microbatch, in [0, k.cuts()), of every row of `x` (..., width), rows in row-major order.
[[nodiscard]] std::vector<std::int32_t> microbatch_of_rows(const Kernel& k, const TensorImpl& x);

/// Writes sums that were formed once a microbatch, `pieces` [k.cuts()][count], into `out`: one by
/// one when the kernel asks for them stacked, else added along the tree. Every piece is rounded
/// once, to the dtype in which it is added: that of `out`, or f32 for 16-bit floats.
template <class C>
void store_microbatch_sums(const Kernel& k, TensorImpl& out, std::vector<C> pieces) {
  const DType adding = size_of(out.dtype) < 4 && is_floating(out.dtype) ? DType::f32 : out.dtype;
  round_values(pieces, adding);
  if (k.cuts() > 1 && !k.stacked()) {
    const auto count = static_cast<std::int64_t>(pieces.size()) / k.cuts();
    for (std::int64_t step = 1; step < k.cuts(); step *= 2) {
      for (std::int64_t left = 0; left + step < k.cuts(); left += 2 * step) {
        for (std::int64_t i = 0; i < count; ++i) {
          pieces[static_cast<std::size_t>(left * count + i)] +=
              pieces[static_cast<std::size_t>((left + step) * count + i)];
        }
      }
      round_values(pieces, adding);  // f32 addition is double addition rounded once
    }
    pieces.resize(static_cast<std::size_t>(count));
  }
  store_values(out, pieces);
}

}  // namespace tessera
