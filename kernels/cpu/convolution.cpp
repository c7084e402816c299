#include <tessera/kernels/cpu/convolution.h>

#include <algorithm>

#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/convolution_library.h>
#include <tessera/kernels/cpu/convolution_ways.h>
#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/simd/elementwise.h>

namespace tessera::cpu {
namespace {

// The windows of an image as a matrix, so that a convolution is a product of matrices (Chellapilla
// et al., "High Performance Convolutional Neural Networks for Document Processing", 2006).

/// The positions o of [0, out) that tap `t` of dim `d` brings inside the input.
struct Inside {
  Inside(const ConvolutionGeometry& g, std::size_t d, std::int64_t t)
      : stride(g.stride[d]), shift(t * g.dilation[d] - g.padding[d]) {
    first = shift >= 0 ? 0 : std::min((-shift + stride - 1) / stride, g.out[d]);
    const std::int64_t room = g.in[d] - 1 - shift;
    last = room < 0 ? first : std::max(first, std::min(room / stride + 1, g.out[d]));
  }
  /// What position `o` reads.
  [[nodiscard]] std::int64_t at(std::int64_t o) const { return o * stride + shift; }
  [[nodiscard]] bool holds(std::int64_t o) const { return o >= first && o < last; }

  std::int64_t stride, shift, first, last;
};

/// Calls f(line, row of the image or null, row of the columns) for all rows of positions along the
/// last dim, tap by tap; `line` is what the tap reads there.
template <class Image, class Columns, class F>
void for_each_row(const ConvolutionGeometry& g, std::int64_t channels, Image* image,
                  Columns* columns, const F& f) {
  for (std::int64_t c = 0; c < channels; ++c, image += g.in_size()) {
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const Inside depth(g, 0, tap / (g.kernel[1] * g.kernel[2]));
      const Inside height(g, 1, tap / g.kernel[2] % g.kernel[1]);
      const Inside line(g, 2, tap % g.kernel[2]);
      for (std::int64_t d = 0; d < g.out[0]; ++d) {
        for (std::int64_t h = 0; h < g.out[1]; ++h, columns += g.out[2]) {
          const std::int64_t row = depth.at(d) * g.in[1] + height.at(h);
          const bool inside = depth.holds(d) && height.holds(h);
          f(line, inside ? image + row * g.in[2] : nullptr, columns);
        }
      }
    }
  }
}

template <class T>
void take(const ConvolutionGeometry& g, std::int64_t channels, const T* image, T* columns) {
  for_each_row(g, channels, image, columns, [&](const Inside& line, const T* from, T* to) {
    const std::int64_t first = from == nullptr ? g.out[2] : line.first;
    const std::int64_t last = from == nullptr ? g.out[2] : line.last;
    std::fill(to, to + first, T(0));
    if (line.stride == 1 && first < last) {
      std::copy(from + line.at(first), from + line.at(last), to + first);
    } else {
      for (std::int64_t o = first; o < last; ++o) {
        to[o] = from[line.at(o)];
      }
    }
    std::fill(to + last, to + g.out[2], T(0));
  });
}

/// columns (channels * taps, out...) of an image (channels, in...), elements of `size` bytes (2 or
/// 4); zeros for the padding.
void take_columns(const ConvolutionGeometry& g, std::int64_t channels, std::size_t size,
                  const char* image, char* columns) {
  if (size == sizeof(float)) {
    take(g, channels, reinterpret_cast<const std::uint32_t*>(image),
         reinterpret_cast<std::uint32_t*>(columns));
  } else {
    take(g, channels, reinterpret_cast<const std::uint16_t*>(image),
         reinterpret_cast<std::uint16_t*>(columns));
  }
}

/// image (channels, in...) = what of f32 columns (channels * taps, out...) belongs to each element,
/// added in the order of taps.
void add_columns(const ConvolutionGeometry& g, std::int64_t channels, const float* columns,
                 float* image) {
  std::fill(image, image + channels * g.in_size(), 0.0F);
  for_each_row(g, channels, image, columns, [](const Inside& line, float* to, const float* from) {
    for (std::int64_t o = line.first; to != nullptr && o < line.last; ++o) {
      to[line.at(o)] += from[o];
    }
  });
}

// Samples of which a weight's gradient is summed by one task.
constexpr std::int64_t kSamplesPerSum = 8;

HeldMemory floats_for(std::int64_t count) {
  return HeldMemory(static_cast<std::size_t>(count) * sizeof(float));
}

/// One sample's part of one group of channels: the operands of its products.
struct ChannelGroup {
  ChannelGroup(const ConvolutionTask& task, std::int64_t sample, std::int64_t group)
      : t(task), g(task.shape), depth(g.group_in() * g.taps()) {
    x = at(t.x, (sample * g.groups + group) * g.group_in() * g.in_size());
    y = at(t.y, (sample * g.groups + group) * g.group_out() * g.out_size());
    weight = at(t.weight, group * g.group_out() * depth);
  }
  static char* at(const ConvolutionArray& array, std::int64_t element) {
    return array.data + element * static_cast<std::int64_t>(size_of(array.dtype));
  }
  [[nodiscard]] Matrix y_matrix() const { return {y, t.y.dtype, g.out_size(), 1}; }
  [[nodiscard]] Matrix weight_matrix() const { return {weight, t.weight.dtype, depth, 1}; }
  /// The windows of x as a matrix [depth, out_size] in `memory`.
  [[nodiscard]] Matrix columns(HeldMemory& memory) const {
    memory = floats_for(depth * g.out_size());
    char* columns = reinterpret_cast<char*>(memory.data());
    take_columns(g, g.group_in(), size_of(t.x.dtype), x, columns);
    return {columns, t.x.dtype, g.out_size(), 1};
  }

  const ConvolutionTask& t;
  const ConvolutionGeometry& g;
  std::int64_t depth;  ///< of the products that make y
  char *x, *y, *weight;
};

/// to = rows of `size` f32 sums, plus a number for each row.
void store_rows(float* sums, std::int64_t rows, std::int64_t size, const float* bias, DType dtype,
                char* to) {
  for (std::int64_t row = 0; row < rows && bias != nullptr; ++row) {
    for (std::int64_t i = 0; i < size; ++i) {
      sums[row * size + i] += bias[row];
    }
  }
  if (dtype == DType::bf16) {
    IsaTable<ElementwiseTable>::get().to_bf16(sums, to, rows * size);
  } else if (reinterpret_cast<char*>(sums) != to) {
    std::copy_n(sums, rows * size, reinterpret_cast<float*>(to));
  }
}

/// Where `count` f32 sums are formed that end as `dtype` at `to`.
float* sums_for(DType dtype, char* to, std::int64_t count, HeldMemory& memory) {
  if (dtype == DType::f32) {
    return reinterpret_cast<float*>(to);
  }
  memory = floats_for(count);
  return memory.as<float>();
}

void make_y(const ConvolutionTask& t, std::int64_t sample, std::int64_t group) {
  const ChannelGroup own(t, sample, group);
  HeldMemory columns, sums;
  Gemm g;
  g.m = own.g.group_out(), g.n = own.g.out_size(), g.k = own.depth;
  g.a = own.weight_matrix();
  g.b = own.columns(columns);
  float* c = sums_for(t.y.dtype, own.y, g.m * g.n, sums);
  g.c = c, g.c_stride = g.n;
  g.compute = t.compute;
  gemm(g);
  store_rows(c, g.m, g.n, t.bias == nullptr ? nullptr : t.bias + group * g.m, t.y.dtype, own.y);
}

void make_x(const ConvolutionTask& t, std::int64_t sample, std::int64_t group) {
  const ChannelGroup own(t, sample, group);
  const std::int64_t channels = own.g.group_in(), size = own.g.in_size();
  const HeldMemory columns = floats_for(own.depth * own.g.out_size());
  HeldMemory sums;
  Gemm g;
  g.m = own.depth, g.n = own.g.out_size(), g.k = own.g.group_out();
  g.a = own.weight_matrix().transposed();
  g.b = own.y_matrix();
  g.c = columns.data(), g.c_stride = g.n;
  g.compute = t.compute;
  gemm(g);
  float* x = sums_for(t.x.dtype, own.x, channels * size, sums);
  add_columns(own.g, channels, columns.as<float>(), x);
  store_rows(x, channels, size, t.bias == nullptr ? nullptr : t.bias + group * channels, t.x.dtype,
             own.x);
}

/// sums [group_out, depth] of some samples, in order.
void sum_weights(const ConvolutionTask& t, std::int64_t first, std::int64_t count,
                 std::int64_t group, float* sums) {
  for (std::int64_t sample = first; sample < first + count; ++sample) {
    const ChannelGroup own(t, sample, group);
    HeldMemory columns;
    Gemm g;
    g.m = own.g.group_out(), g.n = own.depth, g.k = own.g.out_size();
    g.a = own.y_matrix();
    g.b = own.columns(columns).transposed();
    g.c = sums, g.c_stride = g.n;
    g.compute = t.compute;
    g.accumulate = sample != first;
    gemm(g);
  }
}

/// Calls body(i, group) for all groups of i in [0, count): as tasks, or one by one where a product
/// has more tasks of its own.
template <class Body>
void for_groups(const ConvolutionTask& t, std::int64_t count, const Body& body) {
  const std::int64_t groups = t.shape.groups;
  constexpr std::int64_t kEnoughForAllThreads = 8;
  if (count * groups >= kEnoughForAllThreads) {
    parallel_for(count * groups, [&](std::int64_t i) { body(i / groups, i % groups); });
    return;
  }
  for (std::int64_t i = 0; i < count * groups; ++i) {
    body(i / groups, i % groups);
  }
}

void make_weight(const ConvolutionTask& t) {
  const RowBlocks blocks(t.shape.batch, t.cuts, kSamplesPerSum);
  const std::int64_t weights = t.shape.weights();
  BlockSums sums(blocks, weights, t.per_microbatch, reinterpret_cast<float*>(t.weight.data));
  for_groups(t, blocks.count(), [&](std::int64_t block, std::int64_t group) {
    sum_weights(t, blocks.first_row(block), blocks.rows_of(block), group,
                sums.of(block) + group * (weights / t.shape.groups));
  });
  sums.finish();
}

/// x plus its bias, which libraries do not add; rounded once.
void make_biased_x(const ConvolutionLibrary& library, const ConvolutionTask& t) {
  const std::int64_t channels = t.shape.in_channels, size = t.shape.in_size();
  HeldMemory held;
  float* sums = sums_for(t.x.dtype, t.x.data, t.shape.batch * channels * size, held);
  ConvolutionTask plain = t;
  plain.bias = nullptr;
  plain.x = {reinterpret_cast<char*>(sums), DType::f32};
  library.convolve(plain);
  parallel_for(t.shape.batch * channels, [&](std::int64_t plane) {
    store_rows(sums + plane * size, 1, size, t.bias + plane % channels, t.x.dtype,
               ChannelGroup::at(t.x, plane * size));
  });
}

/// Tile registers multiply so fast that a transform costs more than it saves.
bool multiplies_in_tiles(const ConvolutionTask& t) {
  return t.compute == DType::bf16 && active_isa() == Isa::amx_bf16;
}

}  // namespace

void convolve_by_products(const ConvolutionTask& t) {
  if (t.result == ConvolutionResult::weight) {
    make_weight(t);
    return;
  }
  for_groups(t, t.shape.batch, [&](std::int64_t sample, std::int64_t group) {
    (t.result == ConvolutionResult::y ? make_y : make_x)(t, sample, group);
  });
}

void convolve(const ConvolutionTask& t) {
  if (t.compute == DType::f64) {
    convolve_f64(t);
    return;
  }
  const ConvolutionLibrary* library = convolution_library_for(t);
  if (shifts_suit(t)) {
    make_weight_by_shifts(t);
  } else if (winograd_suits(t) && !(library != nullptr && multiplies_in_tiles(t))) {
    convolve_by_winograd(t);
  } else if (library == nullptr) {
    convolve_by_products(t);
  } else if (t.result == ConvolutionResult::x && t.bias != nullptr) {
    make_biased_x(*library, t);
  } else {
    library->convolve(t);
  }
}

}  // namespace tessera::cpu
