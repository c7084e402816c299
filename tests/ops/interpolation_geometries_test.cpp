// Interpolation and padding at random geometries. The formulas of positions are those of PyTorch.
#include <algorithm>

#include "ops/geometries.h"

#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/upsample.h>

namespace tessera {
namespace {

using testing_support::case_of;
using testing_support::Draws;
using testing_support::expect_sums;
using testing_support::for_each_index;
using testing_support::Line;
using testing_support::number_of;
using testing_support::product_of;
using testing_support::Sums;
using testing_support::with_sizes;

/// The weights of cubic interpolation at a distance (Keys 1981, a = -0.75).
double keys(double x) {
  const double a = -0.75, t = std::abs(x);
  return t <= 1  ? (a + 2) * t * t * t - (a + 3) * t * t + 1
         : t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a
                 : 0;
}

/// Of interpolation along one of `ndim` dims; `step`: input positions for each output position.
Line line_of(Interpolation mode, bool align, double step, std::int64_t in, std::int64_t out,
             int ndim) {
  Line line;
  for (std::int64_t o = 0; o < out; ++o) {
    std::vector<double>& weights = line.emplace_back(static_cast<std::size_t>(in));
    const auto clipped = [&](std::int64_t i) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, in - 1));
    };
    if (mode == Interpolation::nearest && ndim == 2 && (out == in || out == 2 * in)) {
      weights[clipped(o * in / out)] = 1;  // PyTorch's upsample_nearest2d, unlike 1d and 3d
      continue;
    }
    if (mode == Interpolation::nearest || mode == Interpolation::nearest_exact) {
      const float half = mode == Interpolation::nearest ? 0.0F : 0.5F;
      const float at = (static_cast<float>(o) + half) * static_cast<float>(step);
      weights[clipped(static_cast<std::int64_t>(std::floor(at)))] = 1;
      continue;
    }
    double at = align ? static_cast<double>(o) * step : (static_cast<double>(o) + 0.5) * step - 0.5;
    if (mode == Interpolation::linear) {
      at = std::max(in == out ? static_cast<double>(o) : at, 0.0);
    }
    const auto left = static_cast<std::int64_t>(std::floor(at));
    for (std::int64_t i = left - 1; i <= left + 2; ++i) {
      const double distance = at - static_cast<double>(i);
      weights[clipped(i)] +=
          mode == Interpolation::linear ? std::max(0.0, 1 - std::abs(distance)) : keys(distance);
    }
  }
  return line;
}

TEST(InterpolationGeometries, interpolation_weighs_neighbours) {
  Draws draws(6);
  for (const auto mode : {Interpolation::nearest, Interpolation::nearest_exact,
                          Interpolation::linear, Interpolation::cubic}) {
    for (int i = 0; i < testing_support::kGeometries; ++i) {
      const int ndim = mode == Interpolation::cubic ? 2 : static_cast<int>(draws.in(1, 3));
      const Dims in = draws.dims(ndim, 1, 5);
      const bool smooth = mode == Interpolation::linear || mode == Interpolation::cubic;
      Upsampling options{.mode = mode, .align_corners = smooth && draws.coin()};
      const bool scales = draws.coin();
      std::vector<Line> lines;
      Dims out;
      for (int d = 0; d < ndim; ++d) {
        const double size = static_cast<double>(in[d]);
        const double scale = static_cast<double>(draws.in(10, 25)) / 10;
        out.push_back(scales ? static_cast<std::int64_t>(std::floor(size * scale))
                             : draws.in(1, 8));
        double step = scales ? 1 / scale : size / static_cast<double>(out[d]);
        if (options.align_corners) {
          step = out[d] > 1 ? (size - 1) / static_cast<double>(out[d] - 1) : 0;
        }
        lines.push_back(line_of(mode, options.align_corners, step, in[d], out[d], ndim));
        options.scale.push_back(scale);
      }
      if (!scales) {
        options.scale.clear();
        options.size = out;
      }
      const Tensor x = draws.tensor(with_sizes(1, 1, in));
      expect_sums(product_of(lines, out, in), upsample(x, options), x, {},
                  case_of("interpolation", i, in, "to", out, "mode", static_cast<int>(mode),
                          options.align_corners, scales));
    }
  }
}

/// What PyTorch 2.15 gives for 0, 1, 2 by the factors 1.3 and 2.3.
TEST(InterpolationGeometries, nearest_in_two_dims_does_not_look_at_scales_that_keep_or_double) {
  const auto of_three = [](Dims shape, const std::vector<double>& scale) {
    shape.push_back(3);
    const Tensor x = reshape(arange(0, 3, 1, {.dtype = DType::f32}), shape);
    return upsample(x, {.scale = scale}).to_vector<float>();
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(of_three({1, 1}, {1.3}), (Floats{0, 0, 1}));
  EXPECT_EQ(of_three({1, 1, 1}, {1, 1.3}), (Floats{0, 1, 2}));
  EXPECT_EQ(of_three({1, 1, 1, 1}, {1, 1, 1.3}), (Floats{0, 0, 1}));
  EXPECT_EQ(of_three({1, 1}, {2.3}), (Floats{0, 0, 0, 1, 1, 2}));
  EXPECT_EQ(of_three({1, 1, 1}, {1, 2.3}), (Floats{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(of_three({1, 1, 1, 1}, {1, 1, 2.3}), (Floats{0, 0, 0, 1, 1, 2}));
}

TEST(PadGeometries, padding_surrounds_and_separates) {
  Draws draws(7);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const int ndim = static_cast<int>(draws.in(1, 4));
    const Dims in = draws.dims(ndim, 1, 4);
    const Pad::Attrs padding{.before = draws.dims(ndim, 0, 2),
                             .after = draws.dims(ndim, 0, 2),
                             .between = draws.coin() ? draws.dims(ndim, 0, 2) : Dims()};
    Dims out;
    const auto step = [&](int d) { return padding.between.empty() ? 1 : padding.between[d] + 1; };
    for (int d = 0; d < ndim; ++d) {
      out.push_back(padding.before[d] + (in[d] - 1) * step(d) + 1 + padding.after[d]);
    }
    Sums sums;
    for_each_index(in, [&](const Dims& at, std::int64_t from) {
      Dims to;
      for (int d = 0; d < ndim; ++d) {
        to.push_back(padding.before[d] + at[d] * step(d));
      }
      sums.add(number_of(to, out), from);
    });
    const Tensor x = draws.tensor(in);
    expect_sums(sums, pad(x, padding), x, {}, case_of("pad", i, in, "to", out));
  }
}

}  // namespace
}  // namespace tessera
