// The state that a recurrent layer starts from.
#pragma once

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// Zeros (..., `size`) of `dtype` for x (..., n). They lie where x does, and in a pass of several
/// microbatches they belong to those of x, which plain zeros would not.
[[nodiscard]] inline Tensor zero_state(const Tensor& x, std::int64_t size, DType dtype) {
  const Dims none = Dims::filled(unstacked_ndim(x), 0);
  Dims after = none;
  after[after.size() - 1] = size;
  return cast(pad(slice(x.detach(), -1, 0, 0), {.before = none, .after = after, .between = {}}),
              dtype);
}

}  // namespace tessera::nn
