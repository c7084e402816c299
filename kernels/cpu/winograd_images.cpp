#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/convolution_ways.h>
#include <tessera/kernels/cpu/isa.h>
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
        part_(part_of(to)),
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
  HeldBlock memory_;
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
    const std::int64_t parts = to.channels / part_of(to.channels);
    parallel_for(parts * ((count + strips_of_task - 1) / strips_of_task), [&](std::int64_t task) {
      const std::int64_t begin = task / parts * strips_of_task;
      make_part(task % parts, first + begin, std::min(strips_of_task, count - begin),
                tiles.at(begin * strips.tiles, 0));
    });
  }

  /// A part of the channels of strips [first, first + count), whose tiles begin at `tiles`.
  void make_part(std::int64_t part, std::int64_t first, std::int64_t count,
                 const WinogradTiles& tiles) const {
    const std::int64_t channels = part_of(to.channels);
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

}  // namespace

void make_images_by_winograd(const ConvolutionTask& t) {
  ImagePass(t).run();
}

}  // namespace tessera::cpu
