// Runs of 16 channels, as planes one behind the other and interleaved.
#pragma once

#include <cstdint>

namespace tessera::cpu {

inline constexpr std::int64_t kChannelBlock = 16;

/// Elements from one plane (positions) of 16 to the next, and from one line (16 channels) to the
/// next.
struct ChannelSteps {
  std::int64_t plane = 0, line = kChannelBlock;
};

using ChannelBlockCopy = void (*)(const void* from, std::int64_t positions, const ChannelSteps&,
                                  void* to);

/// f32 lines (taps, 16 in, 16 out) of a weight to 16 planes (in, taps), `step` elements apart.
using WeightBlockCopy = void (*)(const float* lines, std::int64_t taps, std::int64_t step,
                                 float* planes);

struct ChannelBlockTable {
  ChannelBlockCopy to_lines[2];   ///< f32, bf16
  ChannelBlockCopy to_planes[2];  ///< f32, bf16
  WeightBlockCopy weight_to_planes;
};

}  // namespace tessera::cpu
