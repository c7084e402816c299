#include <tessera/core/ops/support/convolution.h>

#include <algorithm>

#include <tessera/core/ops/support/checks.h>

namespace tessera {
namespace {

Shape with_sizes(std::int64_t a, std::int64_t b, const Dims& sizes) {
  Shape shape{a, b};
  for (const std::int64_t size : sizes) {
    shape.push_back(size);
  }
  return shape;
}

void check_sizes(const char* op, const Dims& size, int ndim) {
  check(size.size() == ndim, op, ": wrong number of sizes; got ", size, ", expected ", ndim);
}

void check_result(const char* op, const ConvolutionGeometry& g, const Shape& y) {
  check_shape(op, "gradient", y, g.y_shape());
}

void set_out(const char* op, ConvolutionGeometry& g, const Shape& x, const Shape& weight) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t window = g.dilation[d] * (g.kernel[d] - 1) + 1;
    const std::int64_t padded = g.in[d] + 2 * g.padding[d];
    check(window <= padded, op, ": kernel is larger than the padded input; got ", window,
          " positions of weight ", weight, ", expected at most ", padded, " of x ", x);
    g.out[d] = (padded - window) / g.stride[d] + 1;
  }
}

}  // namespace

ConvolutionGeometry convolution_geometry(const char* op, const Shape& x, const Shape& weight,
                                         const ConvolutionOptions& options) {
  const int ndim = spatial_dims(op, x);
  const std::int64_t groups = options.groups;
  check(weight.size() == x.size(), op, ": wrong number of dims of weight; got ", weight,
        ", expected ", x.size(), " as in x ", x);
  check(groups >= 1 && weight[0] % groups == 0, op, ": wrong number of groups; got ", groups,
        ", expected a divisor of ", weight[0], " channels");
  check(x[1] % groups == 0 && x[1] / groups == weight[1], op, ": wrong number of channels; got ",
        x[1], " in ", groups, " groups, expected ", weight[1], " in each");
  ConvolutionGeometry g{.ndim = ndim,
                        .batch = x[0],
                        .groups = groups,
                        .in_channels = x[1],
                        .out_channels = weight[0]};
  g.in = spatial_numbers(op, "size", spatial_sizes(x), ndim, 0, 1);
  g.kernel = spatial_numbers(op, "kernel size", spatial_sizes(weight), ndim, 1, 1);
  g.stride = spatial_numbers(op, "stride", options.stride, ndim, 1, 1);
  g.padding = spatial_numbers(op, "padding", options.padding, ndim, 0, 0);
  g.dilation = spatial_numbers(op, "dilation", options.dilation, ndim, 1, 1);
  set_out(op, g, x, weight);
  check_countable(op, g.x_shape());
  check_countable(op, g.y_shape());
  return g;
}

ConvolutionGeometry geometry_of_input(const char* op, const Shape& y, const Shape& weight,
                                      const Dims& size, const ConvolutionOptions& options) {
  const int ndim = spatial_dims(op, y);
  check(weight.size() == y.size(), op, ": wrong number of dims of weight; got ", weight,
        ", expected ", y.size(), " as in ", y);
  check(weight[0] == y[1], op, ": wrong number of channels; got ", y[1], " in ", y, ", expected ",
        weight[0], " as in weight ", weight);
  check_sizes(op, size, ndim);
  const std::int64_t channels = weight[1] * std::max<std::int64_t>(options.groups, 1);
  const ConvolutionGeometry g =
      convolution_geometry(op, with_sizes(y[0], channels, size), weight, options);
  check_result(op, g, y);
  return g;
}

ConvolutionGeometry geometry_of_weight(const char* op, const Shape& y, const Shape& x,
                                       const Dims& size, const ConvolutionOptions& options) {
  const int ndim = spatial_dims(op, x);
  check(y.size() == x.size(), op, ": wrong number of dims of the gradient; got ", y, ", expected ",
        x.size(), " as in x ", x);
  check_sizes(op, size, ndim);
  const std::int64_t channels = x[1] / std::max<std::int64_t>(options.groups, 1);
  const ConvolutionGeometry g =
      convolution_geometry(op, x, with_sizes(y[1], channels, size), options);
  check_result(op, g, y);
  return g;
}

void check_channel_bias(const Infer& c, int i, std::int64_t channels) {
  if (c.has_input(i)) {
    check_shape(c.op(), "bias", c.input(i).shape(), {channels});
    check_not_narrowed(c.op(), "bias", c.input(i).dtype(), c.input(0).dtype());
  }
}

ShardRule convolution_rule(const Infer& c, std::array<bool, 3> batched, bool output_batched) {
  ShardRule rule{.partial = output_batched ? ShardRule::Partial::none : ShardRule::Partial::sum};
  for (int i = 0; i < c.input_count(); ++i) {
    DimLabels& labels = rule.inputs.emplace_back(c.has_input(i) ? c.input(i).ndim() : 0);
    if (batched[static_cast<std::size_t>(i)]) {
      labels[0] = 0;
    }
  }
  DimLabels& output = rule.outputs.emplace_back(c.outputs()[0].shape.size());
  if (output_batched) {
    output[0] = 0;
  }
  return rule;
}

std::int64_t tap_offset(const ConvolutionGeometry& g, const std::int64_t* o,
                        const std::int64_t* t) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t i = o[d] * g.stride[d] + t[d] * g.dilation[d] - g.padding[d];
    if (i < 0 || i >= g.in[d]) {
      return -1;
    }
    at = at * g.in[d] + i;
  }
  return at;
}

}  // namespace tessera
