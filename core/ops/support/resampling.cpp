#include <tessera/core/ops/support/resampling.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

std::ostream& operator<<(std::ostream& out, Resampling::Kind kind) {
  constexpr const char* kNames[] = {"average",       "adaptive", "nearest",
                                    "nearest_exact", "linear",   "cubic"};
  return out << kNames[static_cast<std::size_t>(kind)];
}
namespace {

using Kind = Resampling::Kind;

/// One dim of a resampling.
struct Line {
  Line(const Resampling& resampling, int dim) : r(resampling), d(dim), in(r.in[d]), out(r.out[d]) {}

  const Resampling& r;
  int d;
  std::int64_t in, out;

  /// Input positions for each output position.
  [[nodiscard]] double step() const {
    if (r.align_corners) {
      return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    }
    const double scale = r.scale[static_cast<std::size_t>(d)];
    return scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
  }
  [[nodiscard]] std::int64_t clipped(std::int64_t position) const {
    return std::clamp<std::int64_t>(position, 0, in - 1);
  }
};

void add(Taps& taps, std::int64_t position, double weight) {
  taps.position.push_back(position);
  taps.weight.push_back(weight);
}

void add_window(Taps& taps, std::int64_t begin, std::int64_t end, double weight) {
  for (std::int64_t i = begin; i < end; ++i) {
    add(taps, i, weight);
  }
}

void average(Taps& taps, const Line& line, std::int64_t o) {
  const std::int64_t from = o * line.r.stride[line.d] - line.r.padding[line.d];
  const std::int64_t to = std::min(from + line.r.kernel[line.d], line.in + line.r.padding[line.d]);
  const std::int64_t begin = std::max<std::int64_t>(from, 0), end = std::min(to, line.in);
  const std::int64_t size = line.r.counts_padding ? to - from : end - begin;
  // A divisor divides once, by the first dim.
  const std::int64_t divisor = line.r.divisor == 0 ? size : line.d == 0 ? line.r.divisor : 1;
  add_window(taps, begin, end, 1 / static_cast<double>(divisor));
}

void adapt(Taps& taps, const Line& line, std::int64_t o) {
  const std::int64_t begin = o * line.in / line.out;
  const std::int64_t end = ((o + 1) * line.in + line.out - 1) / line.out;
  add_window(taps, begin, end, 1 / static_cast<double>(end - begin));
}

// In f32, as PyTorch computes it: elsewhere the whole part could be another. In two dims, and in no
// other number, it does not look at the scale where the size is kept or doubled.
void pick(Taps& taps, const Line& line, std::int64_t o) {
  const std::int64_t times = line.out % line.in == 0 ? line.out / line.in : 0;
  if (line.r.kind == Kind::nearest && line.r.in.size() == 2 && (times == 1 || times == 2)) {
    return add(taps, o / times, 1);
  }
  const auto step = static_cast<float>(line.step());
  const float half = line.r.kind == Kind::nearest_exact ? 0.5F : 0.0F;
  const float at = std::floor((static_cast<float>(o) + half) * step);
  add(taps, line.clipped(static_cast<std::int64_t>(at)), 1);
}

/// Where output position `o` lies between input positions.
double place(const Line& line, std::int64_t o) {
  const double at = static_cast<double>(o);
  return line.r.align_corners ? at * line.step() : (at + 0.5) * line.step() - 0.5;
}

void interpolate_linearly(Taps& taps, const Line& line, std::int64_t o) {
  // A size that does not change is kept as it is, whatever the scale, as in PyTorch.
  const double at = line.in == line.out ? static_cast<double>(o) : std::max(place(line, o), 0.0);
  const std::int64_t left = line.clipped(static_cast<std::int64_t>(at));
  const double right_weight = std::min(at - static_cast<double>(left), 1.0);
  add(taps, left, 1 - right_weight);
  add(taps, line.clipped(left + 1), right_weight);
}

/// The convolution kernel of cubic interpolation (Keys, "Cubic Convolution Interpolation for
/// Digital Image Processing", 1981) at distance `x`.
double cubic(double x) {
  constexpr double kA = -0.75;
  x = std::abs(x);
  return x <= 1 ? ((kA + 2) * x - (kA + 3)) * x * x + 1
                : ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

void interpolate_cubically(Taps& taps, const Line& line, std::int64_t o) {
  const double at = place(line, o);
  const auto left = static_cast<std::int64_t>(std::floor(at));
  for (std::int64_t i = left - 1; i <= left + 2; ++i) {
    add(taps, line.clipped(i), cubic(at - static_cast<double>(i)));
  }
}

void add_position(Taps& taps, const Line& line, std::int64_t o) {
  switch (line.r.kind) {
    case Kind::average:
      return average(taps, line, o);
    case Kind::adaptive:
      return adapt(taps, line, o);
    case Kind::nearest:
    case Kind::nearest_exact:
      return pick(taps, line, o);
    case Kind::linear:
      return interpolate_linearly(taps, line, o);
    case Kind::cubic:
      return interpolate_cubically(taps, line, o);
  }
}

void finish_position(Taps& taps) {
  taps.first.push_back(static_cast<std::int64_t>(taps.position.size()));
}

}  // namespace

Spatial sizes_in(const Resampling& r) {
  return spatial_numbers("resample", "size", r.in, r.in.size(), 1, 1);
}

std::array<Taps, 3> taps_of(const Resampling& r) {
  std::array<Taps, 3> taps;
  const int ndim = r.in.size();
  for (int d = 0; d < 3; ++d) {
    Taps& each = taps[static_cast<std::size_t>(d)];
    if (d < 3 - ndim) {
      add(each, 0, 1);
      finish_position(each);
      continue;
    }
    const Line line(r, d - (3 - ndim));
    for (std::int64_t o = 0; o < line.out; ++o) {
      add_position(each, line, o);
      finish_position(each);
    }
  }
  return taps;
}

void check_resampling(const char* op, const Resampling& r, const Shape& shape, const Dims& sizes) {
  const int ndim = spatial_dims(op, shape);
  check(spatial_sizes(shape) == sizes, op, ": wrong sizes; got ", shape, ", expected ", sizes);
  check(r.in.size() == ndim && r.out.size() == ndim, op, ": wrong number of sizes; got ", r.in,
        " and ", r.out, ", expected ", ndim);
  static_cast<void>(spatial_numbers(op, "size", r.in, ndim, 1, 1));
  static_cast<void>(spatial_numbers(op, "size", r.out, ndim, 1, 1));
  check_at_least(op, "divisor", r.divisor, 0);
  if (r.kind != Kind::average) {
    return;
  }
  const bool fits = r.kernel.size() == ndim && r.stride.size() == ndim && r.padding.size() == ndim;
  check(fits, op, ": wrong windows; got kernel ", r.kernel, ", stride ", r.stride, ", padding ",
        r.padding, ", expected ", ndim, " numbers in each");
  const Spatial kernel = spatial_numbers(op, "kernel size", r.kernel, ndim, 1, 1);
  const Spatial stride = spatial_numbers(op, "stride", r.stride, ndim, 1, 1);
  const Spatial padding = spatial_numbers(op, "padding", r.padding, ndim, 0, 0);
  for (int d = 0; d < ndim; ++d) {
    const auto s = static_cast<std::size_t>(3 - ndim + d);
    const bool reaches = (r.out[d] - 1) * stride[s] - padding[s] < r.in[d];
    check(padding[s] <= kernel[s] / 2 && reaches, op,
          ": windows lie outside of the input; got kernel ", r.kernel, ", stride ", r.stride,
          ", padding ", r.padding, ", expected windows that make ", r.out, " positions of ", r.in);
  }
}

}  // namespace tessera
