#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/convolution_ways.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>
#include <tessera/kernels/cpu/winograd_tiles.h>

namespace tessera::cpu {
namespace {

/// Tiles of both factors that are summed before they are added to others, by shape.
std::int64_t strips_of_block(const ConvolutionTask& t, const Strips& strips) {
  constexpr std::int64_t kNumbersAtATime = 1 << 16;  // 9 MiB once they are transformed
  const std::int64_t channels = t.shape.in_channels + t.shape.out_channels;
  return std::max<std::int64_t>(1, kNumbersAtATime / (strips.tiles * channels));
}

/// The sums over blocks of strips, each by itself.
struct WeightPass {
  explicit WeightPass(const ConvolutionTask& t)
      : x(images_of_x(t)),
        y(images_of_y(t)),
        strips(y),
        blocks(t.shape.batch * strips.rows, t.cuts, strips_of_block(t, strips)),
        from_x(most_tiles(), x.channels),
        from_y(most_tiles(), y.channels) {
    inputs.padding_top = t.shape.padding[1], inputs.padding_left = t.shape.padding[2];
    inputs.round = rounds(t, x.dtype);
    gradients.round = rounds(t, y.dtype);
  }

  /// Block `block`, to the whole weight at `sums`.
  void sum(std::int64_t block, float* sums) const {
    inputs.read(blocks.first_row(block), blocks.rows_of(block), from_x);
    gradients.read(blocks.first_row(block), blocks.rows_of(block), from_y);
    const std::int64_t tiles = blocks.rows_of(block) * strips.tiles;
    const std::int64_t width = part_of(x.channels), parts = x.channels / width;
    parallel_for(y.channels / kWinogradChannels * parts, [&](std::int64_t task) {
      sum_part(tiles, task / parts * kWinogradChannels, task % parts * width, sums);
    });
  }

  [[nodiscard]] std::int64_t most_tiles() const {
    return std::min(blocks.height, blocks.rows_per_cut) * strips.tiles;
  }

  /// Weights of some channels from `out` and from `in` on.
  void sum_part(std::int64_t tiles, std::int64_t out, std::int64_t in, float* sums) const {
    const std::int64_t width = part_of(x.channels);
    const WinogradTiles a = from_y.at(0, out), b = from_x.at(0, in);
    const WinogradProducts products({.m = kWinogradChannels,
                                     .n = width,
                                     .k = tiles,
                                     .a = a.data,
                                     .a_row = 1,
                                     .a_step = a.tile_step,
                                     .b = b.data,
                                     .b_step = b.tile_step},
                                    a.position_step, b.position_step);
    const auto put = IsaTable<WinogradTable>::get().put_weights;
    for (std::int64_t row = 0; row < kWinogradChannels; ++row) {
      float* to = sums + ((out + row) * x.channels + in) * kWinogradTaps;
      for (std::int64_t column = 0; column < width; column += kChannelBlock) {
        put(products.at(row, column).data, products.step, to + column * kWinogradTaps);
      }
    }
  }

  Images x, y;
  Strips strips;
  RowBlocks blocks;

  TransformedTiles from_x, from_y;
  TileReader inputs{.images = x, .strips = strips};
  TileReader gradients{.kind = TileReader::Kind::gradients, .images = y, .strips = strips};
};

}  // namespace

void make_weight_by_winograd(const ConvolutionTask& t) {
  const WeightPass pass(t);
  BlockSums sums(pass.blocks, t.shape.weights(), t.stacked,
                 reinterpret_cast<float*>(t.weight.data));
  for (std::int64_t block = 0; block < pass.blocks.count(); ++block) {
    pass.sum(block, sums.of(block));
  }
  sums.finish();
}

}  // namespace tessera::cpu
