#include <tessera/kernels/cpu/winograd_tiles.h>

#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

namespace tessera::cpu {
namespace {

void* lines_for(const Images& images, std::int64_t rows) {
  const std::int64_t elements = rows * images.width * kChannelBlock;
  return scratch(Scratch::rows, static_cast<std::size_t>(elements) * size_of(images.dtype));
}

}  // namespace

char* Images::row(std::int64_t sample, std::int64_t channel, std::int64_t row) const {
  const std::int64_t element = ((sample * channels + channel) * height + row) * width;
  return data + element * static_cast<std::int64_t>(size_of(dtype));
}

Images images_of_x(const ConvolutionTask& t) {
  return {t.x.data, t.x.dtype, t.shape.in_channels, t.shape.in[1], t.shape.in[2]};
}
Images images_of_y(const ConvolutionTask& t) {
  return {t.y.data, t.y.dtype, t.shape.out_channels, t.shape.out[1], t.shape.out[2]};
}

// A line more between positions: they would fall on the same sets of the caches.
TransformedTiles::TransformedTiles(std::int64_t most_tiles, std::int64_t channels)
    : channels_(channels),
      step_(most_tiles * channels + kChannelBlock),
      memory_(static_cast<std::size_t>(kWinogradPositions * step_) * sizeof(float)) {}

void TileReader::read(std::int64_t first, std::int64_t count, const TransformedTiles& to) const {
  constexpr std::int64_t kPositionsOfTask = 1024;
  const std::int64_t blocks = images.channels / kChannelBlock;
  const std::int64_t most =
      std::clamp<std::int64_t>(kPositionsOfTask / kWinogradTile / images.width, 1, strips.rows);
  parallel_for((count + most - 1) / most * blocks, [&](std::int64_t task) {
    const std::int64_t channel = task % blocks * kChannelBlock;
    const std::int64_t end = std::min(count, (task / blocks + 1) * most);
    for (std::int64_t begin = task / blocks * most; begin < end;) {
      const std::int64_t left = strips.rows - (first + begin) % strips.rows;  // of the sample
      const std::int64_t some = std::min(end - begin, left);
      read_some(first + begin, some, channel, to.at(begin * strips.tiles, channel));
      begin += some;
    }
  });
}

/// Strips of one sample. Their rows are brought into lines together, as neighbours share some.
void TileReader::read_some(std::int64_t strip, std::int64_t count, std::int64_t channel,
                           const WinogradTiles& to) const {
  const std::int64_t top = strips.top(strip) - padding_top;
  const std::int64_t bottom = top + count * kWinogradTile + (kind == Kind::inputs ? 2 : 0);
  WinogradStrip s{.height = images.height, .width = images.width};
  s.left = -padding_left, s.tiles = strips.tiles, s.round = round;
  s.first_row = std::max<std::int64_t>(top, 0);
  const std::int64_t rows = std::min(bottom, s.height) - s.first_row;
  void* lines = lines_for(images, rows);
  const std::size_t dtype = dtype_index(images.dtype);
  IsaTable<ChannelBlockTable>::get().to_lines[dtype](
      images.row(strips.sample(strip), channel, s.first_row), rows * s.width, {s.height * s.width},
      lines);
  const auto& table = IsaTable<WinogradTable>::get();
  const auto take = (kind == Kind::inputs ? table.take_inputs : table.take_gradients)[dtype];
  for (std::int64_t i = 0; i < count; ++i) {
    s.top = top + i * kWinogradTile;
    take(s, lines, {to.data + i * s.tiles * to.tile_step, to.tile_step, to.position_step});
  }
}

void write_strip(const Images& images, const Strips& strips, std::int64_t strip,
                 std::int64_t channel, const WinogradTiles& from, const float* bias) {
  WinogradStrip s{.height = images.height, .width = images.width};
  s.top = strips.top(strip), s.first_row = s.top, s.tiles = strips.tiles;
  const std::int64_t rows = std::min(kWinogradTile, s.height - s.top);
  void* lines = lines_for(images, rows);
  const std::size_t dtype = dtype_index(images.dtype);
  IsaTable<WinogradTable>::get().put_outputs[dtype](s, from, bias, lines);
  IsaTable<ChannelBlockTable>::get().to_planes[dtype](
      lines, rows * s.width, {s.height * s.width},
      images.row(strips.sample(strip), channel, s.top));
}

// A line more between positions: they would fall on the same sets of the caches.
WinogradProducts::WinogradProducts(SmallProduct first, std::int64_t a_step, std::int64_t b_step)
    : width(first.n), step(first.m * first.n + 16) {
  const ProductTable& table = IsaTable<ProductTable>::get();
  data = scratch_array<float>(Scratch::tiles, kWinogradPositions * step);
  first.b_panel = table.f32.columns;
  first.c = data, first.c_stride = width;
  for (std::int64_t position = 0; position < kWinogradPositions; ++position) {
    table.small(first);
    first.a += a_step, first.b += b_step, first.c += step;
  }
}

}  // namespace tessera::cpu
