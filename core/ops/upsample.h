// Interpolation between positions.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

enum class Interpolation : std::uint8_t { nearest, nearest_exact, linear, cubic };

/// One of size and scale is given; lists have a number for each spatial dim, or one for all.
struct Upsampling {
  Dims size{};                  ///< of the result
  std::vector<double> scale{};  ///< out = in * scale, rounded down
  Interpolation mode = Interpolation::nearest;
  bool align_corners = false;  ///< linear and cubic: the first and last positions meet
};

/// x (N, C, in...) -> (N, C, out...), as torch.nn.functional.interpolate: linear is also bilinear
/// and trilinear, cubic is for two dims. Throws InvalidArgument for options that do not fit.
[[nodiscard]] Tensor upsample(const Tensor& x, const Upsampling& options);

}  // namespace tessera
