// Loops over flat parameters.
#pragma once

#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::optim {

/// Calls `body.template operator()<T>(first, count)` for runs of elements that cover `x`, spread
/// over the pool. Throws Unsupported for parameters that are neither f32 nor f64.
template <class F>
void for_pieces(const Tensor& x, const F& body) {
  constexpr std::int64_t kPiece = 65536;
  check<Unsupported>(x.dtype() == DType::f32 || x.dtype() == DType::f64,
                     "optimizer: parameters must be f32 or f64; got ", x.dtype());
  const std::int64_t numel = x.numel();
  parallel_for((numel + kPiece - 1) / kPiece, [&](std::int64_t piece) {
    const std::int64_t first = piece * kPiece;
    const std::int64_t count = std::min(kPiece, numel - first);
    if (x.dtype() == DType::f32) {
      body.template operator()<float>(first, count);
    } else {
      body.template operator()<double>(first, count);
    }
  });
}

}  // namespace tessera::optim
