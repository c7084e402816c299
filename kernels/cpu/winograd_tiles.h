// Images cut into strips, rows of Winograd's tiles, their transforms, and what is multiplied: 36
// products of matrices, one for each position of a tile.
#pragma once

#include <cstdint>

#include <tessera/core/device/allocator.h>
#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>
#include <tessera/kernels/cpu/simd/winograd.h>

namespace tessera::cpu {

inline constexpr std::int64_t kWinogradChannels = 32;  ///< channels come in runs of so many
inline constexpr std::int64_t kWinogradTaps = 9;

/// Channels that a task computes.
[[nodiscard]] constexpr std::int64_t task_channels(std::int64_t channels) {
  return channels % 64 == 0 ? 64 : kWinogradChannels;
}

/// Whether numbers of `dtype` in memory are rounded to bf16 as they are read.
[[nodiscard]] constexpr bool rounds(const ConvolutionTask& t, DType dtype) {
  return t.compute == DType::bf16 && dtype == DType::f32;
}

/// x or y of a convolution.
struct Images {
  char* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t channels = 0, height = 0, width = 0;

  /// Row `row` of a channel of a sample.
  [[nodiscard]] char* row(std::int64_t sample, std::int64_t channel, std::int64_t row) const;
};
[[nodiscard]] Images images_of_x(const ConvolutionTask&);
[[nodiscard]] Images images_of_y(const ConvolutionTask&);

/// How the outputs of all samples are cut: strip i is row i % rows of the tiles of sample i / rows.
struct Strips {
  explicit Strips(const Images& outputs)
      : rows((outputs.height + kWinogradTile - 1) / kWinogradTile),
        tiles((outputs.width + kWinogradTile - 1) / kWinogradTile) {}
  [[nodiscard]] std::int64_t sample(std::int64_t strip) const { return strip / rows; }
  [[nodiscard]] std::int64_t top(std::int64_t strip) const { return strip % rows * kWinogradTile; }

  std::int64_t rows;   ///< strips of a sample
  std::int64_t tiles;  ///< of a strip
};

/// Transformed tiles of some strips: [position][tile][channel].
class TransformedTiles {
 public:
  TransformedTiles(std::int64_t most_tiles, std::int64_t channels);
  /// 16 channels of a tile.
  [[nodiscard]] WinogradTiles at(std::int64_t tile, std::int64_t channel) const {
    return {memory_.as<float>() + tile * channels_ + channel, channels_, step_};
  }

 private:
  std::int64_t channels_, step_;
  HeldMemory memory_;
};

/// What is transformed of images: inputs of tiles, or gradients of their outputs.
struct TileReader {
  enum class Kind : std::uint8_t { inputs, gradients };
  Kind kind = Kind::inputs;
  Images images;
  Strips strips;
  std::int64_t padding_top = 0, padding_left = 0;
  bool round = false;

  /// Strips [first, first + count) on the thread pool.
  void read(std::int64_t first, std::int64_t count, const TransformedTiles& to) const;

 private:
  void read_some(std::int64_t strip, std::int64_t count, std::int64_t channel,
                 const WinogradTiles& to) const;
};

/// Writes 16 channels of a strip of outputs.
void write_strip(const Images&, const Strips&, std::int64_t strip, std::int64_t channel,
                 const WinogradTiles& from, const float* bias);

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
