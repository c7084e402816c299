// Numbers for up to three spatial dims, as windows on a tensor (samples, channels, positions...)
// need them.
#pragma once

#include <array>
#include <cstdint>

#include <tessera/core/dispatch/shard_rule.h>
#include <tessera/core/tensor/shape.h>

namespace tessera {

/// One number for each of three spatial dims; where there are fewer, the leading ones are filled.
using Spatial = std::array<std::int64_t, 3>;

/// `numbers`, one for each of `ndim` dims or one for all. Throws InvalidArgument that names `op`
/// and what the number is for another number of them, or for one below `least` or above 2^31 - 1.
[[nodiscard]] Spatial spatial_numbers(const char* op, const char* name, const Dims& numbers,
                                      int ndim, std::int64_t least, std::int64_t fill);

/// The spatial dims of a tensor (samples, channels, positions...). Throws InvalidArgument that
/// names `op` unless there are 1 to 3.
[[nodiscard]] int spatial_dims(const char* op, const Shape& x);

/// Sizes of `x` behind the first two.
[[nodiscard]] Dims spatial_sizes(const Shape& x);

/// A shape of two sizes and the last `ndim` of `sizes`.
[[nodiscard]] Shape with_spatial(std::int64_t a, std::int64_t b, const Spatial& sizes, int ndim);

/// Samples and channels can be cut, positions stay whole: of all inputs and outputs alike, which
/// have `ndim` dims.
[[nodiscard]] ShardRule plane_rule(int ndim, int inputs, int outputs);

/// Throws InvalidArgument that names `op` for more elements than can be counted.
void check_countable(const char* op, const Shape& shape);

}  // namespace tessera
