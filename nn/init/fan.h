// How many numbers flow into and out of one unit of a weight.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/shape.h>

namespace tessera::nn::init {

struct Fan {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// Of a weight (out, in, kernel...). Throws InvalidArgument below two dims.
[[nodiscard]] Fan fan_of(const Shape& shape);

}  // namespace tessera::nn::init
