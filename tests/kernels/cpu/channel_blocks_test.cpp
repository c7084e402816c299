#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

#include "support.h"

namespace tessera::cpu {
namespace {

// Position p of channel c lies at planes[c * steps.plane + p] and at lines[p * steps.line + c];
// numbers up to 255 are exact in bf16.
template <class T>
void check_copies(std::int64_t positions, const ChannelSteps& steps, int dtype) {
  const ChannelBlockTable& table = IsaTable<ChannelBlockTable>::get();
  const auto size = static_cast<std::size_t>(kChannelBlock * steps.plane);
  std::vector<T> planes(size, T(-1.0F)), back(size, T(-1.0F));
  std::vector<T> lines(static_cast<std::size_t>(positions * steps.line), T(-1.0F));
  for (std::int64_t c = 0; c < kChannelBlock; ++c) {
    for (std::int64_t p = 0; p < positions; ++p) {
      planes[static_cast<std::size_t>(c * steps.plane + p)] =
          T(static_cast<float>((c * 37 + p) % 256));
    }
  }
  table.to_lines[dtype](planes.data(), positions, steps, lines.data());
  for (std::int64_t c = 0; c < kChannelBlock; ++c) {
    for (std::int64_t p = 0; p < positions; ++p) {
      ASSERT_EQ(static_cast<float>(lines[static_cast<std::size_t>(p * steps.line + c)]),
                static_cast<float>((c * 37 + p) % 256))
          << "channel " << c << ", position " << p << " of " << positions;
    }
  }
  table.to_planes[dtype](lines.data(), positions, steps, back.data());
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(static_cast<float>(planes[i]), static_cast<float>(back[i])) << "element " << i;
  }
}

TEST(ChannelBlocks, OrdersAWeightByOutputInputAndTap) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t taps : {1, 3, 9, 27}) {
      const std::int64_t step = kChannelBlock * taps + 7;
      const auto lines = test::random_values(taps * kChannelBlock * kChannelBlock, 1);
      std::vector<float> planes(static_cast<std::size_t>(kChannelBlock * step));
      IsaTable<ChannelBlockTable>::get().weight_to_planes(lines.data(), taps, step, planes.data());
      for (std::int64_t out = 0; out < kChannelBlock; ++out) {
        for (std::int64_t in = 0; in < kChannelBlock; ++in) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t line = tap * kChannelBlock + in;
            ASSERT_EQ(planes[static_cast<std::size_t>(out * step + in * taps + tap)],
                      lines[static_cast<std::size_t>(line * kChannelBlock + out)])
                << out << ", " << in << ", " << tap;
          }
        }
      }
    }
  });
}

TEST(ChannelBlocks, InterleavesAndBack) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t positions : {1, 3, 4, 7, 8, 15, 16, 17, 49, 64}) {
      for (const std::int64_t apart : {0, 5}) {
        for (const std::int64_t line : {16, 48}) {
          check_copies<float>(positions, {positions + apart, line}, 0);
          check_copies<BFloat16>(positions, {positions + apart, line}, 1);
        }
      }
    }
  });
}

}  // namespace
}  // namespace tessera::cpu
