// Convolutions of f64 as products with the windows of padded images.
#include <tessera/kernels/cpu/convolution_ways.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <tessera/core/device/allocator.h>
#include <tessera/kernels/cpu/offset_product.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/row_sums.h>

namespace tessera::cpu {
namespace {

using Offsets = std::vector<std::int64_t>;

/// Calls f(i0, i1, i2) for all positions of `size`.
template <class F>
void each_position(const Spatial& size, const F& f) {
  for (std::int64_t d = 0; d < size[0]; ++d) {
    for (std::int64_t h = 0; h < size[1]; ++h) {
      for (std::int64_t w = 0; w < size[2]; ++w) {
        f(Spatial{d, h, w});
      }
    }
  }
}

/// Planes with zeros around them: position i of a plane is position i + before of a padded one.
class PaddedPlanes {
 public:
  /// Copies `count` planes of size `in`; what leaves `size` is left out.
  PaddedPlanes(const double* planes, std::int64_t count, const Spatial& in, const Spatial& before,
               const Spatial& size)
      : size_(size),
        memory_(static_cast<std::size_t>(std::max<std::int64_t>(1, count * plane())) *
                sizeof(double)) {
    for_ranges(count, rows_per_task(plane()), [&](std::int64_t first, std::int64_t n) {
      for (std::int64_t i = first; i < first + n; ++i) {
        fill(planes + i * in[0] * in[1] * in[2], in, before, data() + i * plane());
      }
    });
  }

  [[nodiscard]] double* data() const { return memory_.as<double>(); }
  [[nodiscard]] std::int64_t plane() const { return size_[0] * size_[1] * size_[2]; }
  [[nodiscard]] std::int64_t at(const Spatial& i) const {
    return (i[0] * size_[1] + i[1]) * size_[2] + i[2];
  }

 private:
  void fill(const double* from, const Spatial& in, const Spatial& before, double* to) const {
    std::fill_n(to, plane(), 0.0);
    const std::int64_t first = std::max<std::int64_t>(0, -before[2]);
    const std::int64_t last = std::min(in[2], size_[2] - before[2]);
    each_position({in[0], in[1], 1}, [&](const Spatial& row) {
      const std::int64_t d = row[0] + before[0], h = row[1] + before[1];
      if (d >= 0 && d < size_[0] && h >= 0 && h < size_[1] && first < last) {
        const double* line = from + (row[0] * in[1] + row[1]) * in[2];
        std::copy(line + first, line + last, to + at({d, h, first + before[2]}));
      }
    });
  }

  Spatial size_;
  HeldMemory memory_;
};

double* doubles(const ConvolutionArray& array) {
  return reinterpret_cast<double*>(array.data);
}

/// x as the windows of y see it.
PaddedPlanes padded_x(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  Spatial size{};
  for (std::size_t d = 0; d < size.size(); ++d) {
    size[d] = (g.out[d] - 1) * g.stride[d] + (g.kernel[d] - 1) * g.dilation[d] + 1;
  }
  return {doubles(t.x), g.batch * g.in_channels, g.in, g.padding, size};
}

/// Offsets of what taps read of channels [0, channels), beside the window's own.
Offsets tap_offsets(const ConvolutionGeometry& g, const PaddedPlanes& planes) {
  Offsets offsets;
  for (std::int64_t c = 0; c < g.group_in(); ++c) {
    each_position(g.kernel, [&](const Spatial& tap) {
      const Spatial moved{tap[0] * g.dilation[0], tap[1] * g.dilation[1], tap[2] * g.dilation[2]};
      offsets.push_back(c * planes.plane() + planes.at(moved));
    });
  }
  return offsets;
}

/// Offsets of the windows of `count` samples.
Offsets window_offsets(const ConvolutionGeometry& g, const PaddedPlanes& planes, std::int64_t first,
                       std::int64_t count) {
  Offsets offsets;
  for (std::int64_t n = first; n < first + count; ++n) {
    each_position(g.out, [&](const Spatial& o) {
      const Spatial moved{o[0] * g.stride[0], o[1] * g.stride[1], o[2] * g.stride[2]};
      offsets.push_back(n * g.in_channels * planes.plane() + planes.at(moved));
    });
  }
  return offsets;
}

/// Where windows' results of `channels` planes a sample lie: position by position of all samples.
Offsets result_offsets(std::int64_t samples, std::int64_t channels, std::int64_t plane,
                       const Offsets& positions) {
  Offsets offsets;
  for (std::int64_t n = 0; n < samples; ++n) {
    for (const std::int64_t position : positions) {
      offsets.push_back(n * channels * plane + position);
    }
  }
  return offsets;
}

Offsets counted(std::int64_t count) {
  Offsets offsets(static_cast<std::size_t>(count));
  std::iota(offsets.begin(), offsets.end(), 0);
  return offsets;
}

const double* bias_of(const ConvolutionTask& t, std::int64_t channel) {
  return t.bias_f64 == nullptr ? nullptr : t.bias_f64 + channel;
}

void make_y_f64(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  const PaddedPlanes x = padded_x(t);
  OffsetProduct p{.m = g.group_out(), .c_row = g.out_size()};
  p.b = {x.data(), tap_offsets(g, x), window_offsets(g, x, 0, g.batch)};
  p.c_columns = result_offsets(g.batch, g.out_channels, g.out_size(), counted(g.out_size()));
  const std::int64_t depth = std::ssize(p.b.rows);
  for (std::int64_t group = 0; group < g.groups; ++group) {
    p.a = {doubles(t.weight) + group * p.m * depth, DType::f64, depth, 1};
    p.b.data = x.data() + group * g.group_in() * x.plane();
    p.c = doubles(t.y) + group * p.m * g.out_size();
    p.bias = bias_of(t, group * p.m);
    multiply(p);
  }
}

/// y's gradient [group_out, samples and positions] of some samples, dense.
HeldMemory rows_of_y(const ConvolutionTask& t, std::int64_t group, std::int64_t first,
                     std::int64_t count) {
  const ConvolutionGeometry& g = t.shape;
  const std::int64_t size = g.out_size(), rows = g.group_out();
  HeldMemory block(static_cast<std::size_t>(rows * count * size) * sizeof(double));
  for_ranges(rows * count, rows_per_task(size), [&](std::int64_t begin, std::int64_t n) {
    for (std::int64_t i = begin; i < begin + n; ++i) {
      const std::int64_t row = i / count, sample = first + i % count;
      const std::int64_t plane = sample * g.out_channels + group * rows + row;
      std::copy_n(doubles(t.y) + plane * size, size, block.as<double>() + i * size);
    }
  });
  return block;
}

void make_weight_f64(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  const PaddedPlanes x = padded_x(t);
  const RowBlocks blocks(g.batch, t.cuts, std::max<std::int64_t>(1, g.batch / t.cuts));
  BlockSumsOf<double> sums(blocks, g.weights(), t.per_microbatch, doubles(t.weight));
  OffsetProduct p{.m = g.group_out()};
  p.b.columns = tap_offsets(g, x);
  const std::int64_t depth = std::ssize(p.b.columns);
  p.c_row = depth;
  p.c_columns = counted(depth);
  for (std::int64_t i = 0; i < blocks.count() * g.groups; ++i) {
    const std::int64_t block = i / g.groups, group = i % g.groups;
    const std::int64_t first = blocks.first_row(block), count = blocks.rows_of(block);
    const HeldMemory y = rows_of_y(t, group, first, count);
    p.a = {y.as<double>(), DType::f64, count * g.out_size(), 1};
    p.b.rows = window_offsets(g, x, first, count);
    p.b.data = x.data() + group * g.group_in() * x.plane();
    p.c = sums.of(block) + group * p.m * depth;
    multiply(p);
  }
  sums.finish();
}

/// The positions of x that the same taps reach: those whose distance from the first window's start
/// leaves the rest `phase` by the strides. Position i is a·stride + phase - padding, and what tap t
/// brings there lies at a - (t·dilation - phase) / stride of y.
class Phase {
 public:
  Phase(const ConvolutionGeometry& g, const Spatial& phase, const PaddedPlanes& y,
        const Spatial& before)
      : g_(g), phase_(phase) {
    each_position(g.kernel, [&](const Spatial& tap) { add_tap(tap, y); });
    each_position(g.in, [&](const Spatial& i) { add_position(i, y, before); });
  }

  [[nodiscard]] const Offsets& taps() const { return taps_; }          ///< numbers in a window
  [[nodiscard]] const Offsets& tap_offsets() const { return moves_; }  ///< in padded y, not above 0
  [[nodiscard]] const Offsets& positions() const { return positions_; }
  [[nodiscard]] const Offsets& position_offsets() const { return starts_; }

 private:
  void add_tap(const Spatial& tap, const PaddedPlanes& y) {
    Spatial back{};
    for (std::size_t d = 0; d < tap.size(); ++d) {
      const std::int64_t distance = tap[d] * g_.dilation[d] - phase_[d];
      if (distance % g_.stride[d] != 0) {
        return;
      }
      back[d] = distance / g_.stride[d];
    }
    taps_.push_back((tap[0] * g_.kernel[1] + tap[1]) * g_.kernel[2] + tap[2]);
    moves_.push_back(-y.at(back));
  }

  void add_position(const Spatial& i, const PaddedPlanes& y, const Spatial& before) {
    Spatial window{};
    for (std::size_t d = 0; d < i.size(); ++d) {
      const std::int64_t distance = i[d] + g_.padding[d];
      if (distance % g_.stride[d] != phase_[d]) {
        return;
      }
      window[d] = distance / g_.stride[d] + before[d];
    }
    positions_.push_back((i[0] * g_.in[1] + i[1]) * g_.in[2] + i[2]);
    starts_.push_back(y.at(window));
  }

  const ConvolutionGeometry& g_;
  Spatial phase_;
  Offsets taps_, moves_, positions_, starts_;
};

/// The weights of a group as [group_in, group_out and taps].
std::vector<double> weights_of(const ConvolutionTask& t, std::int64_t group, const Offsets& taps) {
  const ConvolutionGeometry& g = t.shape;
  const double* first = doubles(t.weight) + group * g.group_out() * g.group_in() * g.taps();
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(g.group_in() * g.group_out() * std::ssize(taps)));
  for (std::int64_t c = 0; c < g.group_in(); ++c) {
    for (std::int64_t o = 0; o < g.group_out(); ++o) {
      for (const std::int64_t tap : taps) {
        weights.push_back(first[(o * g.group_in() + c) * g.taps() + tap]);
      }
    }
  }
  return weights;
}

void make_phase(const ConvolutionTask& t, const PaddedPlanes& y, const Phase& phase) {
  const ConvolutionGeometry& g = t.shape;
  OffsetProduct p{.m = g.group_in(), .c_row = g.in_size()};
  p.c_columns = result_offsets(g.batch, g.in_channels, g.in_size(), phase.positions());
  for (std::int64_t o = 0; o < g.group_out(); ++o) {
    for (const std::int64_t move : phase.tap_offsets()) {
      p.b.rows.push_back(o * y.plane() + move);
    }
  }
  p.b.columns = result_offsets(g.batch, g.out_channels, y.plane(), phase.position_offsets());
  for (std::int64_t group = 0; group < g.groups; ++group) {
    const std::vector<double> weights = weights_of(t, group, phase.taps());
    p.a = {weights.data(), DType::f64, std::ssize(p.b.rows), 1};
    p.b.data = y.data() + group * g.group_out() * y.plane();
    p.c = doubles(t.x) + group * p.m * g.in_size();
    p.bias = bias_of(t, group * p.m);
    multiply(p);
  }
}

void make_x_f64(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  Spatial before{}, size{};
  for (std::size_t d = 0; d < size.size(); ++d) {
    before[d] = (g.kernel[d] - 1) * g.dilation[d] / g.stride[d];
    size[d] = before[d] + (g.in[d] - 1 + g.padding[d]) / g.stride[d] + 1;
  }
  const PaddedPlanes y(doubles(t.y), g.batch * g.out_channels, g.out, before, size);
  each_position(g.stride,
                [&](const Spatial& phase) { make_phase(t, y, Phase(g, phase, y, before)); });
}

}  // namespace

void convolve_f64(const ConvolutionTask& t) {
  switch (t.result) {
    case ConvolutionResult::y:
      return make_y_f64(t);
    case ConvolutionResult::x:
      return make_x_f64(t);
    case ConvolutionResult::weight:
      return make_weight_f64(t);
  }
}

}  // namespace tessera::cpu
