// Convolutions of 3 x 3 windows by Winograd's minimal filtering: tiles of 4 x 4 outputs from 36
// products instead of 144 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// CVPR 2016, section 4), and their gradients by the transposed algorithms.
//
// Transforms and sums are f32; with bf16 factors are rounded to it first, as elsewhere. Errors are
// about twice those of sums of products. A nan or an infinity spreads over its tile.
#include <tessera/kernels/cpu/convolution_ways.h>

#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>
#include <tessera/kernels/cpu/winograd_tiles.h>

namespace tessera::cpu {
namespace {

/// The weight as the products read it: [part of the result's channels][position][channel that is
/// summed][channel of the part].
class TransformedWeight {
 public:
  TransformedWeight(const ConvolutionTask& t, std::int64_t from, std::int64_t to)
      : from_(from),
        part_(task_channels(to)),
        memory_(static_cast<std::size_t>(kWinogradPositions * from * to) * sizeof(float)) {
    parallel_for(to / kChannelBlock, [&](std::int64_t block) { take(t, block * kChannelBlock); });
  }
  /// Elements from position to position.
  [[nodiscard]] std::int64_t step() const { return from_ * part_; }
  [[nodiscard]] float* part(std::int64_t part) const {
    return memory_.as<float>() + part * kWinogradPositions * step();
  }

 private:
  void take(const ConvolutionTask& t, std::int64_t channel) const {
    const bool half = t.weight.dtype == DType::bf16, flip = t.result == ConvolutionResult::x;
    const std::int64_t row = t.shape.in_channels * kWinogradTaps;
    WinogradWeights w{.lane_step = flip ? kWinogradTaps : row, .step = flip ? row : kWinogradTaps};
    w.data = t.weight.data + channel * w.lane_step * (half ? 2 : 4);
    w.count = from_, w.flip = flip, w.round = rounds(t, t.weight.dtype);
    IsaTable<WinogradTable>::get().take_weights[half ? 1 : 0](
        w, {part(channel / part_) + channel % part_, part_, step()});
  }

  std::int64_t from_, part_;
  HeldMemory memory_;
};

Images images_read(const ConvolutionTask& t) {
  return t.result == ConvolutionResult::y ? images_of_x(t) : images_of_y(t);
}
Images images_written(const ConvolutionTask& t) {
  return t.result == ConvolutionResult::y ? images_of_y(t) : images_of_x(t);
}

/// y, or x from the gradient of y: then windows are read backwards, and what was not padded is.
struct ImagePass {
  explicit ImagePass(const ConvolutionTask& task)
      : t(task),
        from(images_read(t)),
        to(images_written(t)),
        strips(to),
        weight(t, from.channels, to.channels) {
    const auto padded = [&](int dim) {
      return t.result == ConvolutionResult::y ? t.shape.padding[dim] : 2 - t.shape.padding[dim];
    };
    reader.padding_top = padded(1), reader.padding_left = padded(2);
    reader.round = rounds(t, from.dtype);
  }

  void run() const {
    constexpr std::int64_t kNumbersAtATime = 1 << 15;  // 4.5 MiB once they are transformed
    const std::int64_t all = t.shape.batch * strips.rows, numbers = strips.tiles * from.channels;
    const std::int64_t group =
        std::clamp(kNumbersAtATime / numbers / strips_of_task * strips_of_task,
                   std::min(strips_of_task, all), all);
    const TransformedTiles tiles(group * strips.tiles, from.channels);
    for (std::int64_t first = 0; first < all; first += group) {
      make_group(first, std::min(group, all - first), tiles);
    }
  }

  void make_group(std::int64_t first, std::int64_t count, const TransformedTiles& tiles) const {
    reader.read(first, count, tiles);
    const std::int64_t parts = to.channels / task_channels(to.channels);
    parallel_for(parts * ((count + strips_of_task - 1) / strips_of_task), [&](std::int64_t task) {
      const std::int64_t begin = task / parts * strips_of_task;
      make_part(task % parts, first + begin, std::min(strips_of_task, count - begin),
                tiles.at(begin * strips.tiles, 0));
    });
  }

  /// A part of the channels of strips [first, first + count), whose tiles begin at `tiles`.
  void make_part(std::int64_t part, std::int64_t first, std::int64_t count,
                 const WinogradTiles& tiles) const {
    const std::int64_t channels = task_channels(to.channels);
    const WinogradProducts products({.m = count * strips.tiles,
                                     .n = channels,
                                     .k = from.channels,
                                     .a = tiles.data,
                                     .a_row = tiles.tile_step,
                                     .a_step = 1,
                                     .b = weight.part(part),
                                     .b_step = channels},
                                    tiles.position_step, weight.step());
    for (std::int64_t strip = 0; strip < count; ++strip) {
      for (std::int64_t block = 0; block < channels; block += kChannelBlock) {
        const std::int64_t channel = part * channels + block;
        write_strip(to, strips, first + strip, channel, products.at(strip * strips.tiles, block),
                    t.bias == nullptr ? nullptr : t.bias + channel);
      }
    }
  }

  static constexpr std::int64_t kTilesOfTask = 48;  // a multiple of the register tiles' rows

  const ConvolutionTask& t;
  Images from, to;
  Strips strips;
  TransformedWeight weight;
  TileReader reader{.images = from, .strips = strips};
  std::int64_t strips_of_task = (kTilesOfTask + strips.tiles - 1) / strips.tiles;
};

void make_images_by_winograd(const ConvolutionTask& t) {
  ImagePass(t).run();
}

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
    const std::int64_t width = task_channels(x.channels), parts = x.channels / width;
    parallel_for(y.channels / kWinogradChannels * parts, [&](std::int64_t task) {
      sum_part(tiles, task / parts * kWinogradChannels, task % parts * width, sums);
    });
  }

  [[nodiscard]] std::int64_t most_tiles() const {
    return std::min(blocks.height, blocks.rows_per_cut) * strips.tiles;
  }

  /// Weights of some channels from `out` and from `in` on.
  void sum_part(std::int64_t tiles, std::int64_t out, std::int64_t in, float* sums) const {
    const std::int64_t width = task_channels(x.channels);
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

void make_weight_by_winograd(const ConvolutionTask& t) {
  const WeightPass pass(t);
  BlockSums sums(pass.blocks, t.shape.weights(), t.per_microbatch,
                 reinterpret_cast<float*>(t.weight.data));
  for (std::int64_t block = 0; block < pass.blocks.count(); ++block) {
    pass.sum(block, sums.of(block));
  }
  sums.finish();
}

bool is_dense_3x3(const ConvolutionGeometry& g) {
  constexpr Spatial kOnes{1, 1, 1};
  return g.ndim == 2 && g.groups == 1 && g.kernel == Spatial{1, 3, 3} && g.stride == kOnes &&
         g.dilation == kOnes && g.padding[1] <= 2 && g.padding[2] <= 2;
}

// With four tiles the transform of a weight pays; with half of what tiles compute thrown away they
// save nothing.
bool fills_tiles(const Spatial& out, std::int64_t samples) {
  constexpr std::int64_t kFewestTiles = 4, kFewestOfTile = kWinogradTile * kWinogradTile / 2;
  const auto along = [](std::int64_t size) { return (size + kWinogradTile - 1) / kWinogradTile; };
  const std::int64_t tiles = along(out[1]) * along(out[2]);
  return samples * tiles >= kFewestTiles && out[1] * out[2] >= kFewestOfTile * tiles;
}

}  // namespace

bool winograd_suits(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  const bool to_x = t.result == ConvolutionResult::x,
             to_weight = t.result == ConvolutionResult::weight;
  return is_dense_3x3(g) && g.in_channels % kWinogradChannels == 0 &&
         g.out_channels % kWinogradChannels == 0 &&
         fills_tiles(to_x ? g.in : g.out, to_weight ? g.batch / t.cuts : 1);
}

void convolve_by_winograd(const ConvolutionTask& t) {
  (t.result == ConvolutionResult::weight ? make_weight_by_winograd : make_images_by_winograd)(t);
}

}  // namespace tessera::cpu
