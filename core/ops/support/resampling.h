// Linear maps along spatial dims, one after another: averages of windows and interpolation.
#pragma once

#include <array>
#include <vector>

#include <tessera/core/ops/support/spatial.h>

namespace tessera {

/// How each output position is a weighted sum of input positions. The weight of an element is the
/// product of the weights along the dims. Lists have a number for each spatial dim.
struct Resampling {
  enum class Kind : std::uint8_t {
    average,        ///< of windows of fixed size
    adaptive,       ///< of windows that cover the input evenly
    nearest,        ///< the position at or before the scaled one
    nearest_exact,  ///< the position nearest to the scaled one
    linear,         ///< between two positions
    cubic,          ///< between four positions (Keys 1981, with a = -0.75)
  };
  Kind kind = Kind::average;
  Dims in, out;                   ///< spatial sizes
  Dims kernel, stride, padding;   ///< average
  bool counts_padding = true;     ///< average: padding counts as zeros
  std::int64_t divisor = 0;       ///< average: of the sum, in place of the window's size
  bool align_corners = false;     ///< linear, cubic: the first and last positions meet
  std::array<double, 3> scale{};  ///< interpolation: out by in; 0: that of the sizes
  void fields(auto&& see) const {
    see("kind", kind), see("in", in), see("out", out), see("kernel", kernel), see("stride", stride),
        see("padding", padding), see("counts_padding", counts_padding), see("divisor", divisor),
        see("align_corners", align_corners), see("depth_scale", scale[0]),
        see("height_scale", scale[1]), see("width_scale", scale[2]);
  }
  friend std::ostream& operator<<(std::ostream& out, Kind kind);
  friend bool operator==(const Resampling&, const Resampling&) = default;
};

/// The terms of an output position: first[o] to first[o + 1].
struct Taps {
  std::vector<std::int64_t> first{0};
  std::vector<std::int64_t> position;
  std::vector<double> weight;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

/// The sizes of planes, three dims.
[[nodiscard]] Spatial sizes_in(const Resampling& resampling);

/// The terms of three dims, of which leading ones have one position where there are fewer.
[[nodiscard]] std::array<Taps, 3> taps_of(const Resampling& resampling);

/// Throws InvalidArgument that names `op` for lists that do not fit, or sizes that a tensor of
/// `shape` (N, C, sizes...) does not have.
void check_resampling(const char* op, const Resampling& resampling, const Shape& shape,
                      const Dims& sizes);

/// Calls f(in, weight) for the terms of output position `o`, row-major: positions in the plane.
template <class F>
void for_each_term(const std::array<Taps, 3>& taps, const Spatial& o, const Spatial& in,
                   const F& f) {
  const auto each = [&](std::size_t d, const auto& body) {
    const auto at = static_cast<std::size_t>(o[d]);
    for (auto i = taps[d].first[at]; i < taps[d].first[at + 1]; ++i) {
      body(taps[d].position[static_cast<std::size_t>(i)],
           taps[d].weight[static_cast<std::size_t>(i)]);
    }
  };
  each(0, [&](std::int64_t z, double a) {
    each(1, [&](std::int64_t y, double b) {
      each(2, [&](std::int64_t x, double c) { f((z * in[1] + y) * in[2] + x, a * b * c); });
    });
  });
}

/// Calls f(out, in, weight) for all terms of a plane, row-major in `out`.
template <class F>
void for_each_term(const std::array<Taps, 3>& taps, const Spatial& in, const F& f) {
  std::int64_t out = 0;
  for (std::int64_t z = 0; z < taps[0].count(); ++z) {
    for (std::int64_t y = 0; y < taps[1].count(); ++y) {
      for (std::int64_t x = 0; x < taps[2].count(); ++x, ++out) {
        for_each_term(taps, {z, y, x}, in, [&](std::int64_t at, double w) { f(out, at, w); });
      }
    }
  }
}

}  // namespace tessera
