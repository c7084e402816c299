// Channels as positions, and back, as layers.
#pragma once

#include <tessera/core/ops/pixel_shuffle.h>
#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// x (..., C factor^2, H, W) -> (..., C, H factor, W factor).
class PixelShuffle : public WithSettings<std::int64_t> {
 public:
  explicit PixelShuffle(std::int64_t upscale_factor)
      : WithSettings({"upscale_factor"}, upscale_factor) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return pixel_shuffle(x, std::get<0>(settings()));
  }
};

/// x (..., C, H factor, W factor) -> (..., C factor^2, H, W).
class PixelUnshuffle : public WithSettings<std::int64_t> {
 public:
  explicit PixelUnshuffle(std::int64_t downscale_factor)
      : WithSettings({"downscale_factor"}, downscale_factor) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return pixel_unshuffle(x, std::get<0>(settings()));
  }
};

}  // namespace tessera::nn
