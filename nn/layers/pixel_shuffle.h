// Channels as positions, and back, as layers.
#pragma once

#include <tuple>

#include <tessera/core/ops/pixel_shuffle.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// x (..., C factor^2, H, W) -> (..., C, H factor, W factor).
class PixelShuffle : public Module {
 public:
  explicit PixelShuffle(std::int64_t upscale_factor) : factor_(upscale_factor) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return pixel_shuffle(x, factor_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(factor_); }
  [[nodiscard]] std::string extra_repr() const override {
    return tessera::detail::concat("upscale_factor=", factor_);
  }

 private:
  std::int64_t factor_;
};

/// x (..., C, H factor, W factor) -> (..., C factor^2, H, W).
class PixelUnshuffle : public Module {
 public:
  explicit PixelUnshuffle(std::int64_t downscale_factor) : factor_(downscale_factor) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return pixel_unshuffle(x, factor_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(factor_); }
  [[nodiscard]] std::string extra_repr() const override {
    return tessera::detail::concat("downscale_factor=", factor_);
  }

 private:
  std::int64_t factor_;
};

}  // namespace tessera::nn
