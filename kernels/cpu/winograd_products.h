// What Winograd's convolutions multiply: 36 products of matrices, one for each position of a tile.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>
#include <tessera/kernels/cpu/simd/winograd.h>

namespace tessera::cpu {

inline constexpr std::int64_t kWinogradChannels = 32;  ///< channels come in runs of so many
inline constexpr std::int64_t kWinogradTaps = 9;

/// Channels that a task computes.
[[nodiscard]] constexpr std::int64_t part_of(std::int64_t channels) {
  return channels % 64 == 0 ? 64 : kWinogradChannels;
}

/// Whether numbers of `dtype` in memory are rounded to bf16 as they are read.
[[nodiscard]] constexpr bool rounds(const ConvolutionTask& t, DType dtype) {
  return t.compute == DType::bf16 && dtype == DType::f32;
}

/// Products of all positions [position][row][column], of rows of A and columns of B, in this
/// thread's memory until the next ones.
struct WinogradProducts {
  /// `first` are the factors of position 0; `a_step` and `b_step` lead to the next position's.
  WinogradProducts(SmallProduct first, std::int64_t a_step, std::int64_t b_step);
  /// What begins at row `row` and column `column`.
  [[nodiscard]] WinogradTiles at(std::int64_t row, std::int64_t column) const {
    return {data + row * width + column, width, step};
  }

  float* data;
  std::int64_t width, step;
};

}  // namespace tessera::cpu
