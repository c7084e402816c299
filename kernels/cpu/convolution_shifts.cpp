// The gradient of a convolution's weight as products of shifted images, for tile registers.
//
// x and the gradient of y are laid on one grid, with so many zeros that no row runs into the next.
// What a tap sums is then a product of two matrices (channels, positions) whose positions differ by
// the tap's shift: each image is packed once for all taps, and no windows are copied. A stride
// splits x into phases, one for each remainder.
#include <tessera/kernels/cpu/convolution_ways.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kPositionsAtOnce = 4096;  // of a block of samples

/// Where a tap reads: in which phase of x, and how far behind the position of y.
struct Shift {
  std::int64_t phase, positions;
};

/// The positions of one sample.
struct Grid {
  explicit Grid(const ConvolutionGeometry& geometry) : g(geometry) {
    for (const std::size_t d : {1, 2}) {
      size[d] = g.out[d] + (g.kernel[d] - 1) * g.dilation[d] / g.stride[d];
    }
  }
  [[nodiscard]] std::int64_t positions() const { return size[1] * size[2]; }
  [[nodiscard]] std::int64_t phases() const { return g.stride[1] * g.stride[2]; }
  [[nodiscard]] Shift shift(std::int64_t tap) const {
    const std::int64_t i = tap / g.kernel[2] * g.dilation[1];
    const std::int64_t j = tap % g.kernel[2] * g.dilation[2];
    return {i % g.stride[1] * g.stride[2] + j % g.stride[2],
            i / g.stride[1] * size[2] + j / g.stride[2]};
  }
  [[nodiscard]] std::int64_t most_positions() const { return shift(g.taps() - 1).positions; }

  const ConvolutionGeometry& g;
  Spatial size{};
};

/// Images as planes (channels, positions of some samples), zeros where there is nothing.
struct Planes {
  Planes(DType type, std::int64_t channels, std::int64_t positions)
      : dtype(type), length(positions), element(static_cast<std::int64_t>(size_of(type))) {
    memory = HeldMemory(static_cast<std::size_t>(channels * length * element));
  }
  [[nodiscard]] char* at(std::int64_t channel, std::int64_t position) const {
    return reinterpret_cast<char*>(memory.data()) + (channel * length + position) * element;
  }
  [[nodiscard]] PackBlock block(std::int64_t channel, std::int64_t channels, std::int64_t position,
                                std::int64_t positions) const {
    return {at(channel, position), dtype, length, 1, channels, positions};
  }

  DType dtype;
  std::int64_t length, element;
  HeldMemory memory;
};

/// Every `stride`th of a line, from element `first` on, which may lie before its start.
struct Line {
  Line(std::int64_t in, std::int64_t room, std::int64_t stride_of, std::int64_t first_of)
      : stride(stride_of), first(first_of) {
    begin = first >= 0 ? 0 : divide_up(-first, stride);
    end = in <= first ? begin
                      : std::clamp((in - 1 - first) / stride + 1, begin, std::max(room, begin));
  }
  [[nodiscard]] std::int64_t source(std::int64_t i) const { return i * stride + first; }

  std::int64_t stride, first, begin, end;
};

template <class T>
void copy_elements(const Line& line, const char* from_bytes, char* to_bytes) {
  const T* from = reinterpret_cast<const T*>(from_bytes) + line.first;
  T* to = reinterpret_cast<T*>(to_bytes);
  if (line.stride == 1) {  // short as lines are, a loop beats memcpy
    for (std::int64_t i = line.begin; i < line.end; ++i) {
      to[i] = from[i];
    }
    return;
  }
  for (std::int64_t i = line.begin; i < line.end; ++i) {
    to[i] = from[i * line.stride];
  }
}

void copy_line(const Line& line, std::int64_t element, const char* from, char* to) {
  (element == 2 ? copy_elements<std::uint16_t> : copy_elements<std::uint32_t>)(line, from, to);
}

/// The gradient of the weight that one block of samples gives.
class BlockOfSamples {
 public:
  BlockOfSamples(const ConvolutionTask& task, std::int64_t first, std::int64_t samples)
      : t_(task),
        g_(task.shape),
        grid_(g_),
        kernel_(IsaTable<ProductTable>::get().bf16),
        first_(first),
        samples_(samples),
        positions_(samples * grid_.positions()),
        run_(kernel_.depth_per_word * kernel_.words_of_run),
        length_(round_up(round_up(positions_, run_) + grid_.most_positions() + 1, run_)),
        out_panels_(divide_up(g_.out_channels, kernel_.rows)),
        in_panels_(divide_up(g_.in_channels, kernel_.columns)),
        rows_(words_for(out_panels_ * kernel_.rows * kernel_.words_of(positions_))),
        columns_(words_for(2 * grid_.phases() * column_words())) {
    pack_y();
    for (std::int64_t phase = 0; phase < grid_.phases(); ++phase) {
      pack_x(phase);
    }
  }

  /// Sums up to weight (out, in, taps) at `sums`.
  void sum(float* sums) const {
    parallel_for(out_panels_ * in_panels_,
                 [&](std::int64_t task) { sum_tile(task / in_panels_, task % in_panels_, sums); });
  }

 private:
  static HeldMemory words_for(std::int64_t count) {
    return HeldMemory(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  }
  /// The words of x in one phase, from an even or an odd position on.
  [[nodiscard]] std::int64_t column_words() const {
    return in_panels_ * kernel_.columns * (length_ / kernel_.depth_per_word);
  }
  [[nodiscard]] std::int64_t depth_at_once() const {
    return std::int64_t{kernel_.words_at_once} * kernel_.depth_per_word;
  }

  void pack_y() {
    const Planes planes(t_.y.dtype, g_.out_channels, length_);
    const Line line(g_.out[2], g_.out[2], 1, 0);
    parallel_for(g_.out_channels, [&](std::int64_t channel) {
      std::memset(planes.at(channel, 0), 0, static_cast<std::size_t>(length_ * planes.element));
      for (std::int64_t i = 0; i < samples_ * g_.out[1]; ++i) {
        const std::int64_t sample = i / g_.out[1], row = i % g_.out[1];
        const std::int64_t image = (first_ + sample) * g_.out_channels + channel;
        copy_line(line, planes.element,
                  t_.y.data + (image * g_.out_size() + row * g_.out[2]) * planes.element,
                  planes.at(channel, sample * grid_.positions() + row * grid_.size[2]));
      }
    });
    auto* words = rows_.as<std::uint32_t>();
    parallel_for(divide_up(positions_, depth_at_once()), [&](std::int64_t segment) {
      const std::int64_t begin = segment * depth_at_once();
      const std::int64_t depth = std::min(depth_at_once(), positions_ - begin);
      kernel_.pack_rows(planes.block(0, g_.out_channels, begin, depth),
                        words + begin / kernel_.depth_per_word * out_panels_ * kernel_.rows);
    });
  }

  void pack_x(std::int64_t phase) {
    const Planes planes(t_.x.dtype, g_.in_channels, length_);
    const std::int64_t down = phase / g_.stride[2], across = phase % g_.stride[2];
    const Line rows(g_.in[1], grid_.size[1], g_.stride[1], down - g_.padding[1]);
    const Line line(g_.in[2], grid_.size[2], g_.stride[2], across - g_.padding[2]);
    parallel_for(g_.in_channels, [&](std::int64_t channel) {
      std::memset(planes.at(channel, 0), 0, static_cast<std::size_t>(length_ * planes.element));
      for (std::int64_t sample = 0; sample < samples_; ++sample) {
        const std::int64_t image = (first_ + sample) * g_.in_channels + channel;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
          const std::int64_t from = image * g_.in_size() + rows.source(row) * g_.in[2];
          copy_line(line, planes.element, t_.x.data + from * planes.element,
                    planes.at(channel, sample * grid_.positions() + row * grid_.size[2]));
        }
      }
    });
    parallel_for(2 * in_panels_, [&](std::int64_t task) {
      const std::int64_t odd = task % 2, channel = task / 2 * kernel_.columns;
      const std::int64_t channels =
          std::min<std::int64_t>(kernel_.columns, g_.in_channels - channel);
      kernel_.pack_columns(planes.block(channel, channels, odd, length_ - odd),
                           columns_at(phase, odd, task / 2));
    });
  }

  [[nodiscard]] std::uint32_t* columns_at(std::int64_t phase, std::int64_t odd,
                                          std::int64_t panel) const {
    return columns_.as<std::uint32_t>() + (2 * phase + odd) * column_words() +
           panel * kernel_.columns * (length_ / kernel_.depth_per_word);
  }

  /// All taps of a panel of y's channels by a panel of x's.
  void sum_tile(std::int64_t out, std::int64_t in, float* sums) const {
    const std::int64_t size = std::int64_t{kernel_.rows} * kernel_.columns;
    auto* tiles = scratch_array<float>(Scratch::tiles, g_.taps() * size);
    kernel_.begin();
    for (std::int64_t begin = 0; begin < positions_; begin += depth_at_once()) {
      const std::int64_t words = kernel_.words_of(std::min(depth_at_once(), positions_ - begin));
      const std::int64_t word = begin / kernel_.depth_per_word;
      const std::uint32_t* rows = rows_.as<std::uint32_t>() + word * out_panels_ * kernel_.rows +
                                  out * kernel_.rows * words;
      for (std::int64_t tap = 0; tap < g_.taps(); ++tap) {
        const Shift shift = grid_.shift(tap);
        const std::int64_t at = word + shift.positions / kernel_.depth_per_word;
        kernel_.tile(kernel_.rows, words, rows,
                     columns_at(shift.phase, shift.positions % 2, in) + at * kernel_.columns,
                     tiles + tap * size, kernel_.columns,
                     begin > 0 ? TileSum::continued : TileSum::fresh, {});
      }
    }
    write(tiles, out * kernel_.rows, in * kernel_.columns, sums);
  }

  void write(const float* tiles, std::int64_t out, std::int64_t in, float* sums) const {
    const std::int64_t rows = std::min<std::int64_t>(kernel_.rows, g_.out_channels - out);
    const std::int64_t columns = std::min<std::int64_t>(kernel_.columns, g_.in_channels - in);
    for (std::int64_t i = 0; i < rows; ++i) {
      float* to = sums + ((out + i) * g_.in_channels + in) * g_.taps();
      for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t tap = 0; tap < g_.taps(); ++tap) {
          *to++ = tiles[(tap * kernel_.rows + i) * kernel_.columns + j];
        }
      }
    }
  }

  const ConvolutionTask& t_;
  const ConvolutionGeometry& g_;
  Grid grid_;
  const ProductKernel& kernel_;
  std::int64_t first_, samples_, positions_;
  std::int64_t run_;     ///< values of k that are packed together
  std::int64_t length_;  ///< of a plane, with room to shift it
  std::int64_t out_panels_, in_panels_;
  HeldMemory rows_, columns_;
};

}  // namespace

bool shifts_suit(const ConvolutionTask& t) {
  constexpr std::int64_t kFewestChannels = 16;
  const ConvolutionGeometry& g = t.shape;
  return t.result == ConvolutionResult::weight && t.compute == DType::bf16 && g.groups == 1 &&
         g.ndim <= 2 && std::min(g.in_channels, g.out_channels) >= kFewestChannels &&
         active_isa() == Isa::amx_bf16;
}

void make_weight_by_shifts(const ConvolutionTask& t) {
  const std::int64_t samples =
      std::max<std::int64_t>(1, kPositionsAtOnce / Grid(t.shape).positions());
  const RowBlocks blocks(t.shape.batch, t.cuts, samples);
  BlockSums sums(blocks, t.shape.weights(), t.per_microbatch,
                 reinterpret_cast<float*>(t.weight.data));
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    BlockOfSamples(t, blocks.first_row(block), blocks.rows_of(block)).sum(sums.of(block));
  }
  sums.finish();
}

}  // namespace tessera::cpu
