// Convolutions and transposed ones at random geometries.
#include "ops/geometries.h"

#include <tessera/core/ops/convolution.h>

namespace tessera {
namespace {

using testing_support::Draws;
using testing_support::for_each_index;
using testing_support::number_of;
using testing_support::Sums;
using testing_support::with_sizes;

struct Geometry {
  explicit Geometry(Draws& draws)
      : ndim(static_cast<int>(draws.in(1, 3))),
        batch(draws.in(1, 2)),
        from(draws.in(1, 3)),
        to(draws.in(1, 3)),
        in(draws.dims(ndim, 1, ndim == 3 ? 4 : 7)),
        kernel(draws.dims(ndim, 1, 3)),
        options{.stride = draws.dims(ndim, 1, 3),
                .padding = draws.dims(ndim, 0, 2),
                .dilation = draws.dims(ndim, 1, 3),
                .groups = draws.in(1, 2)} {}

  /// Windows that fit into the padded input.
  [[nodiscard]] Dims windows() const {
    Dims out;
    for (int d = 0; d < ndim; ++d) {
      const std::int64_t room =
          in[d] + 2 * options.padding[d] - options.dilation[d] * (kernel[d] - 1) - 1;
      out.push_back(room < 0 ? 0 : room / options.stride[d] + 1);
    }
    return out;
  }
  /// What tap `t` of window `o` meets.
  [[nodiscard]] Dims met(const Dims& o, const Dims& t) const {
    Dims at;
    for (int d = 0; d < ndim; ++d) {
      at.push_back(o[d] * options.stride[d] + t[d] * options.dilation[d] - options.padding[d]);
    }
    return at;
  }
  /// Calls f(sample, channel of the many windows, channel inside its group of what they meet,
  /// weight, window, what it meets) for all pairs of channels of a group.
  template <class F>
  void for_each_tap(const Dims& out, const F& f) const {
    for_each_index({batch, options.groups, to, from}, [&](const Dims& c, std::int64_t) {
      const std::int64_t o = c[1] * to + c[2];
      for_each_index(out, [&](const Dims& window, std::int64_t) {
        for_each_index(kernel, [&](const Dims& t, std::int64_t tap) {
          f(c[0], o, c[1] * from + c[3], (o * from + c[3]) * numel_of(kernel) + tap, window,
            met(window, t));
        });
      });
    });
  }
  [[nodiscard]] std::int64_t place(std::int64_t sample, std::int64_t channels, std::int64_t channel,
                                   const Dims& at, const Dims& sizes) const {
    const std::int64_t plane = (sample * channels + channel) * numel_of(sizes);
    const std::int64_t number = number_of(at, sizes);
    return number < 0 ? -1 : plane + number;
  }
  [[nodiscard]] std::string text(const char* name, int i) const {
    return testing_support::case_of(name, i, in, "kernel", kernel, "stride", options.stride,
                                    "padding", options.padding, "dilation", options.dilation,
                                    "groups", options.groups);
  }

  int ndim;
  std::int64_t batch, from, to;  ///< channels of a group
  Dims in, kernel;
  ConvolutionOptions options;
};

TEST(ConvolutionGeometries, sum_what_windows_meet) {
  Draws draws(1);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const Geometry g(draws);
    const Dims out = g.windows();
    if (numel_of(out) == 0) {
      continue;
    }
    const std::int64_t groups = g.options.groups;
    const Tensor x = draws.tensor(with_sizes(g.batch, groups * g.from, g.in));
    const Tensor weight = draws.tensor(with_sizes(groups * g.to, g.from, g.kernel));
    Sums sums;
    g.for_each_tap(out, [&](std::int64_t n, std::int64_t o, std::int64_t c, std::int64_t w,
                            const Dims& window, const Dims& at) {
      sums.add(g.place(n, groups * g.to, o, window, out), g.place(n, groups * g.from, c, at, g.in),
               w);
    });
    testing_support::expect_sums(sums, convolution(x, weight, {}, g.options), x, weight,
                                 g.text("convolution", i));
  }
}

/// Windows are laid on the output; what they meet there gets the products.
TEST(ConvolutionGeometries, transposed_ones_spread_into_windows) {
  Draws draws(2);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const Geometry g(draws);
    Dims more, out;
    bool any = true;
    for (int d = 0; d < g.ndim; ++d) {
      const std::int64_t stride = g.options.stride[d], dilation = g.options.dilation[d];
      more.push_back(draws.in(0, std::max(stride, dilation) - 1));
      out.push_back((g.in[d] - 1) * stride - 2 * g.options.padding[d] +
                    dilation * (g.kernel[d] - 1) + more[d] + 1);
      any = any && out[d] > 0;
    }
    if (!any) {
      continue;
    }
    const std::int64_t groups = g.options.groups;
    const Tensor x = draws.tensor(with_sizes(g.batch, groups * g.to, g.in));
    const Tensor weight = draws.tensor(with_sizes(groups * g.to, g.from, g.kernel));
    Sums sums;
    g.for_each_tap(g.in, [&](std::int64_t n, std::int64_t o, std::int64_t c, std::int64_t w,
                             const Dims& window, const Dims& at) {
      sums.add(g.place(n, groups * g.from, c, at, out), g.place(n, groups * g.to, o, window, g.in),
               w);
    });
    testing_support::expect_sums(sums, transposed_convolution(x, weight, {}, g.options, more), x,
                                 weight,
                                 g.text("transposed convolution", i) +
                                     testing_support::case_of(", output padding", i, more));
  }
}

}  // namespace
}  // namespace tessera
