// What the ops of a convolution share: its geometry, and the products that it sums.
#pragma once

#include <array>
#include <cstdint>

#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/support/spatial.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// How windows lie on the input. Lists have a number for each spatial dim, or one for all.
struct ConvolutionOptions {
  Dims stride{1};
  Dims padding{0};  ///< zeros at both ends
  Dims dilation{1};
  std::int64_t groups = 1;  ///< parts of the channels that do not see each other
  void fields(auto&& see) const {
    see("stride", stride), see("padding", padding), see("dilation", dilation),
        see("groups", groups);
  }
  friend bool operator==(const ConvolutionOptions&, const ConvolutionOptions&) = default;
};

/// x (batch, in_channels, in...), weight (out_channels, in_channels / groups, kernel...) and
/// y (batch, out_channels, out...). Spatial dims are three, leading ones of size 1 where there are
/// fewer.
struct ConvolutionGeometry {
  int ndim = 0;  ///< spatial dims that there are
  std::int64_t batch = 0, groups = 1, in_channels = 0, out_channels = 0;
  Spatial in{}, kernel{}, out{}, stride{}, padding{}, dilation{};

  [[nodiscard]] std::int64_t group_in() const { return in_channels / groups; }
  [[nodiscard]] std::int64_t group_out() const { return out_channels / groups; }
  [[nodiscard]] std::int64_t in_size() const { return in[0] * in[1] * in[2]; }
  [[nodiscard]] std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
  [[nodiscard]] std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Elements of the weight.
  [[nodiscard]] std::int64_t weights() const { return out_channels * group_in() * taps(); }
  [[nodiscard]] Shape x_shape() const { return with_spatial(batch, in_channels, in, ndim); }
  [[nodiscard]] Shape weight_shape() const {
    return with_spatial(out_channels, group_in(), kernel, ndim);
  }
  [[nodiscard]] Shape y_shape() const { return with_spatial(batch, out_channels, out, ndim); }

  friend bool operator==(const ConvolutionGeometry&, const ConvolutionGeometry&) = default;
};

/// Throws InvalidArgument that names `op` for shapes and options that do not fit.
[[nodiscard]] ConvolutionGeometry convolution_geometry(const char* op, const Shape& x,
                                                       const Shape& weight,
                                                       const ConvolutionOptions& options);
/// The geometry from y and the weight, for an x of spatial sizes `size`.
[[nodiscard]] ConvolutionGeometry geometry_of_input(const char* op, const Shape& y,
                                                    const Shape& weight, const Dims& size,
                                                    const ConvolutionOptions& options);
/// The geometry from y and x, for a weight of spatial sizes `size`.
[[nodiscard]] ConvolutionGeometry geometry_of_weight(const char* op, const Shape& y, const Shape& x,
                                                     const Dims& size,
                                                     const ConvolutionOptions& options);

/// Throws InvalidArgument unless input `i`, if it is there, has one number for each channel.
void check_channel_bias(const Infer& c, int i, std::int64_t channels);

/// Only samples can be cut, dim 0 of the `batched` inputs: how channels are summed may depend on
/// their number.
[[nodiscard]] ShardRule convolution_rule(const Infer& c, std::array<bool, 3> batched,
                                         bool output_batched);

/// The offset in a plane of x that tap `t` of the window at `o` reads, or -1 in the padding.
[[nodiscard]] std::int64_t tap_offset(const ConvolutionGeometry& g, const std::int64_t* o,
                                      const std::int64_t* t);

/// Calls f(n, y, x, weight) for all products of the convolution: which sample, and the offsets in
/// dense row-major y, x and weight. Those of an element of y come in the order of the weight.
template <class F>
void for_each_product(const ConvolutionGeometry& g, const F& f) {
  const Shape windows{g.batch, g.out_channels, g.out[0], g.out[1], g.out[2]};
  const Shape taps{g.group_in(), g.kernel[0], g.kernel[1], g.kernel[2]};
  StridedCounter<1> y(windows, {contiguous_strides(windows)});
  for (std::int64_t i = numel_of(windows); i > 0; --i, y.next()) {
    const std::int64_t n = y.index()[0], o = y.index()[1];
    const std::int64_t first_channel = n * g.in_channels + o / g.group_out() * g.group_in();
    StridedCounter<1> tap(taps, {contiguous_strides(taps)});
    for (std::int64_t j = numel_of(taps); j > 0; --j, tap.next()) {
      const std::int64_t at = tap_offset(g, &y.index().begin()[2], &tap.index().begin()[1]);
      if (at >= 0) {
        const std::int64_t x = (first_channel + tap.index()[0]) * g.in_size() + at;
        f(n, y.offsets[0], x, o * numel_of(taps) + tap.offsets[0]);
      }
    }
  }
}

}  // namespace tessera
