// Norms over several dims at the end of a shape.
#pragma once

#include <algorithm>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// Throws InvalidArgument naming `layer` unless `shape`, what is to be normalised, has elements.
inline void check_normalized_shape(const char* layer, const Shape& shape) {
  check(!shape.empty() && numel_of(shape) >= 1, layer, ": sizes must be positive; got ", shape);
}

/// Throws InvalidArgument naming `layer` unless the shape of `x` ends in `end`.
inline void check_ends_in(const char* layer, const Tensor& x, const Shape& end) {
  const Shape shape = unstacked_shape(x);
  const int before = shape.size() - end.size();
  check(before >= 0 && std::equal(end.begin(), end.end(), shape.begin() + before), layer,
        ": wrong shape; got ", shape, ", expected one that ends in ", end);
}

/// The last `dims` dims as one; undefined for undefined.
inline Tensor as_rows(const Tensor& x, int dims) {
  return dims > 1 && x.defined() ? flatten(x, -dims) : x;
}

}  // namespace tessera::nn
