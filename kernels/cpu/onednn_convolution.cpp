// oneDNN (2.x or 3.x) as a library of convolutions: one primitive for each shape of tile, executed
// on the thread that runs the task.
#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/convolution_library.h>
#include <tessera/kernels/cpu/onednn_tile.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

namespace tessera::cpu {
namespace {

using onednn::ConvolutionTile;
using onednn::Operands;
using onednn::tile_convolution;
using onednn::TileConvolution;

/// Runs `body` with oneDNN kept to this thread, and its errors in our words.
template <class Body>
void on_one_thread(const Body& body) {
  const onednn::OneThread one;
  try {
    body();
  } catch (const dnnl::error& error) {
    fail<InternalError>("oneDNN convolution: ", error.what());
  }
}

/// A convolution cut into tiles by its shape: runs of samples, and of the result's channels (of
/// y's for a weight). Samples of a tile share the reading of a weight, channels of a tile stay few
/// where that is large.
struct TilePlan {
  explicit TilePlan(const ConvolutionTask& task) : t(task), g(task.shape) {
    const std::int64_t numbers = g.in_channels * g.in_size() + g.out_channels * g.out_size();
    const std::int64_t share = g.weights() / std::max<std::int64_t>(numbers, 1);
    const bool sums = t.result == ConvolutionResult::weight;
    samples = sums ? std::clamp<std::int64_t>(4 * share, 4, 32) : share >= 1 ? 4 : 1;
    const std::int64_t all = t.result == ConvolutionResult::x ? g.in_channels : g.out_channels;
    const std::int64_t most = sums ? 64 : 128;
    channels = g.groups == 1 && all % most == 0 ? most : all;
    parts = all / channels;
  }
  [[nodiscard]] ConvolutionTile tile(std::int64_t count) const {
    ConvolutionTile tile{.result = t.result, .shape = g};
    tile.shape.batch = count;
    (t.result == ConvolutionResult::x ? tile.shape.in_channels : tile.shape.out_channels) =
        channels;
    tile.x_channels = g.in_channels, tile.y_channels = g.out_channels;
    tile.dtypes = {t.x.dtype, t.weight.dtype, t.y.dtype};
    tile.compute = t.compute;
    tile.bias = t.bias != nullptr;
    return tile;
  }

  const ConvolutionTask& t;
  const ConvolutionGeometry& g;
  std::int64_t samples;   ///< of a tile, at most
  std::int64_t channels;  ///< of a tile
  std::int64_t parts;     ///< runs of channels
};

std::int64_t bytes(std::int64_t elements, DType dtype) {
  return elements * static_cast<std::int64_t>(size_of(dtype));
}

std::int64_t x_bytes(const ConvolutionTask& t, std::int64_t channels) {
  return bytes(channels * t.shape.in_size(), t.x.dtype);
}
std::int64_t y_bytes(const ConvolutionTask& t, std::int64_t channels) {
  return bytes(channels * t.shape.out_size(), t.y.dtype);
}

/// Where the part of the weight begins that makes run `part` of the result's channels.
char* weight_of(const TilePlan& plan, std::int64_t part) {
  const ConvolutionTask& t = plan.t;
  const std::int64_t step =
      t.shape.taps() * (t.result == ConvolutionResult::x ? 1 : t.shape.in_channels);
  return t.weight.data + bytes(part * plan.channels * step, t.weight.dtype);
}

/// The weight in oneDNN's layout, run by run of channels.
struct PreparedWeight {
  explicit PreparedWeight(const TilePlan& plan) {
    TileConvolution* own = nullptr;
    on_one_thread([&] { own = &tile_convolution(plan.tile(plan.samples)); });
    needed = own->prepares_weight();
    step = (own->weight_bytes() + 63) / 64 * 64;
    if (!needed) {
      return;
    }
    memory = HeldMemory(step * static_cast<std::size_t>(plan.parts));
    parallel_for(plan.parts, [&](std::int64_t part) {
      on_one_thread([&] {
        tile_convolution(plan.tile(plan.samples)).prepare_weight(weight_of(plan, part), at(part));
      });
    });
  }
  [[nodiscard]] char* at(std::int64_t part) const {
    return reinterpret_cast<char*>(memory.data()) + step * static_cast<std::size_t>(part);
  }

  bool needed = false;
  std::size_t step = 0;
  HeldMemory memory;
};

/// Runs a tile with fewer samples than its primitive has: the missing ones are zeros, and what
/// comes of them is dropped. So a sample's bits do not depend on the number of samples.
void run_padded(const TilePlan& plan, TileConvolution& tile, Operands operands, const float* bias,
                std::int64_t count) {
  const ConvolutionTask& t = plan.t;
  const bool to_y = t.result == ConvolutionResult::y;
  const std::size_t x_step = static_cast<std::size_t>(x_bytes(t, t.shape.in_channels));
  const std::size_t y_step = static_cast<std::size_t>(y_bytes(t, t.shape.out_channels));
  const std::size_t from_step = to_y ? x_step : y_step, to_step = to_y ? y_step : x_step;
  const auto all = static_cast<std::size_t>(plan.samples), some = static_cast<std::size_t>(count);
  const HeldMemory from(all * from_step), to(all * to_step);
  char* const read = operands[to_y ? 0 : 2];
  char* const written = operands[to_y ? 2 : 0];
  std::memcpy(from.data(), read, some * from_step);
  std::memset(from.data() + some * from_step, 0, (all - some) * from_step);
  operands[to_y ? 0 : 2] = reinterpret_cast<char*>(from.data());
  operands[to_y ? 2 : 0] = reinterpret_cast<char*>(to.data());
  tile.run(operands, bias);
  const std::int64_t run = to_y ? y_bytes(t, plan.channels) : x_bytes(t, plan.channels);
  for (std::size_t sample = 0; sample < some; ++sample) {
    std::memcpy(written + sample * to_step, to.data() + sample * to_step,
                static_cast<std::size_t>(run));
  }
}

/// y or x, sample by sample.
void make_samples(const ConvolutionTask& t) {
  const TilePlan plan(t);
  const PreparedWeight prepared(plan);
  const bool to_y = t.result == ConvolutionResult::y;
  const std::int64_t blocks = (t.shape.batch + plan.samples - 1) / plan.samples;
  parallel_for(plan.parts * blocks, [&](std::int64_t task) {
    const std::int64_t part = task / blocks, first = task % blocks * plan.samples;
    const std::int64_t channel = part * plan.channels;
    const Operands operands{
        t.x.data + first * x_bytes(t, t.shape.in_channels) + (to_y ? 0 : x_bytes(t, channel)),
        prepared.needed ? prepared.at(part) : weight_of(plan, part),
        t.y.data + first * y_bytes(t, t.shape.out_channels) + (to_y ? y_bytes(t, channel) : 0)};
    const float* bias = t.bias == nullptr ? nullptr : t.bias + channel;
    const std::int64_t count = std::min(plan.samples, t.shape.batch - first);
    on_one_thread([&] {
      TileConvolution& tile = tile_convolution(plan.tile(plan.samples));
      if (count < plan.samples) {
        run_padded(plan, tile, operands, bias, count);
      } else {
        tile.run(operands, bias);
      }
    });
  });
}

/// The gradient of the weight: blocks of samples each by itself, then added.
void sum_samples(const ConvolutionTask& t) {
  const TilePlan plan(t);
  const RowBlocks blocks(t.shape.batch, t.cuts, plan.samples);
  const std::int64_t weights = t.shape.weights();
  BlockSums sums(blocks, weights, t.per_microbatch, reinterpret_cast<float*>(t.weight.data));
  parallel_for(plan.parts * blocks.count(), [&](std::int64_t task) {
    const std::int64_t part = task / blocks.count(), block = task % blocks.count();
    const std::int64_t first = blocks.first_row(block);
    float* sum = sums.of(block) + part * (weights / plan.parts);
    const Operands operands{
        t.x.data + first * x_bytes(t, t.shape.in_channels), reinterpret_cast<char*>(sum),
        t.y.data + first * y_bytes(t, t.shape.out_channels) + y_bytes(t, part * plan.channels)};
    on_one_thread(
        [&] { tile_convolution(plan.tile(blocks.rows_of(block))).run(operands, nullptr); });
  });
  sums.finish();
}

/// Groups that oneDNN's fast kernels take: runs of 16 channels in each, or one channel in each.
bool supports_groups(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  const auto are_runs = [](std::int64_t channels) { return channels % kChannelBlock == 0; };
  if (g.ndim == 3) {
    return false;
  }
  if (g.group_in() > 1 || g.group_out() > 1) {
    return are_runs(g.group_in()) && are_runs(g.group_out());
  }
  return are_runs(g.groups) && g.dilation == Spatial{1, 1, 1} &&
         (t.result != ConvolutionResult::weight || g.kernel == Spatial{1, 3, 3});
}

bool supports(const ConvolutionTask& t) {
  return (t.shape.groups == 1 || supports_groups(t)) && onednn::supports(t.compute);
}

void convolve_by_onednn(const ConvolutionTask& t) {
  (t.result == ConvolutionResult::weight ? sum_samples : make_samples)(t);
}

constexpr ConvolutionLibrary kLibrary{onednn::version, supports, convolve_by_onednn};
[[maybe_unused]] const bool added =
    onednn::kOneThreadIsPossible && add_convolution_library(&kLibrary);

}  // namespace
}  // namespace tessera::cpu
