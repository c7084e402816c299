// How many numbers flow into and out of one unit of a weight.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/shape.h>

namespace tessera::nn::init {

struct Fan {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// The fans of a weight (out, in, kernel...). Throws ValueError below two dims.
[[nodiscard]] Fan fan_of(const Shape& shape);

/// Which of the two sets the scale: fan_in keeps the variance forward, fan_out backward.
enum class FanMode : std::uint8_t { fan_in, fan_out };
[[nodiscard]] std::int64_t fan_of(const Shape& shape, FanMode mode);

}  // namespace tessera::nn::init
