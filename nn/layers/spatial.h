// What layers over (samples, channels, positions) share: samples may be left out.
#pragma once

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// Calls f(x) with x (N, C, positions...) of `ndim` spatial dims; one sample alone, (C,
/// positions...), counts as N = 1, and the result loses that dim again. Throws InvalidArgument
/// that names `layer` for another number of dims.
[[nodiscard]] Tensor over_samples(const char* layer, const Tensor& x, int ndim, const auto& f) {
  const Shape shape = unstacked_shape(x);
  check(shape.size() == ndim + 1 || shape.size() == ndim + 2, layer,
        ": wrong number of dims; got shape ", shape, ", expected ", ndim + 2, ", or ", ndim + 1,
        " for one sample");
  return shape.size() == ndim + 2 ? f(x) : squeeze(f(unsqueeze(x, 0)), 0);
}

}  // namespace tessera::nn
