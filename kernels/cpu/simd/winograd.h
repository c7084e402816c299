// Winograd's transforms, serial, as each instruction set has them. A line is 16 channels of one
// position, a run of channels a run of lines (channel_blocks.h).
#pragma once

#include <cstdint>

namespace tessera::cpu {

inline constexpr std::int64_t kWinogradTile = 4;        ///< outputs of a tile in each dim
inline constexpr std::int64_t kWinogradPositions = 36;  ///< of a transformed tile

/// A row of tiles in an image's lines (rows, width, 16), of which those from `first_row` on are
/// there. What a tile reads beyond the image is 0.
struct WinogradStrip {
  std::int64_t height = 0, width = 0;  ///< of the image
  std::int64_t top = 0, left = 0;      ///< of the first tile
  std::int64_t first_row = 0;
  std::int64_t tiles = 0;
  bool round = false;  ///< what is read is rounded to bf16
};

/// 16 channels of transformed tiles: elements from tile to tile and from position to position.
struct WinogradTiles {
  float* data = nullptr;
  std::int64_t tile_step = 0, position_step = 0;
};

/// Weights of 16 lanes (channels of the result) and `count` channels that are summed, 3 x 3 each.
struct WinogradWeights {
  const void* data = nullptr;
  std::int64_t lane_step = 0, step = 0;  ///< elements from lane to lane, and along the sum
  std::int64_t count = 0;
  bool flip = false;   ///< windows are read backwards
  bool round = false;  ///< to bf16
};

/// Indices: 0 is f32 in memory, 1 is bf16.
struct WinogradTable {
  /// Tiles of 6 x 6 inputs, 4 apart.
  void (*take_inputs[2])(const WinogradStrip&, const void* lines, const WinogradTiles& to);
  /// Tiles of 4 x 4 gradients of outputs.
  void (*take_gradients[2])(const WinogradStrip&, const void* lines, const WinogradTiles& to);
  /// Lines of 4 x 4 outputs, each plus `bias` (16 numbers or null).
  void (*put_outputs[2])(const WinogradStrip&, const WinogradTiles& from, const float* bias,
                         void* lines);
  /// Transforms weights to [position][channel that is summed][lane].
  void (*take_weights[2])(const WinogradWeights&, const WinogradTiles& to);
  /// The gradients of 16 weights of 3 x 3 one behind the other, each a tile of its own lane.
  void (*put_weights)(const float* from, std::int64_t position_step, float* to);
};

}  // namespace tessera::cpu
