#include <tessera/core/ops/convolution.h>

#include <algorithm>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/factors.h>

namespace tessera {
namespace {

/// Adds bias[channel] to `values` (N, C, plane).
template <class C>
void add_bias(const Kernel& k, std::vector<C>& values, std::int64_t plane) {
  if (!k.has_input(2)) {
    return;
  }
  const std::vector<C> bias = dense_values<C>(k.input(2));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] += bias[i / static_cast<std::size_t>(plane) % bias.size()];
  }
}

/// The gradient of a bias of channels: the sum over samples and positions.
void set_bias_gradient(Vjp& v) {
  if (!v.has_input(2) || !v.needs(2)) {
    return;
  }
  const Tensor gradient = cast(v.gradient(), v.input_meta(2).dtype);
  ReduceAttrs over{.dims = {0}};
  for (int d = 2; d < unstacked_ndim(gradient); ++d) {
    over.dims.push_back(d);
  }
  v.set(2, call_into<Sum>(v.destination(2), {gradient}, over));
}

void check_divides(const char* name, const Dims& numbers, int ndim) {
  check(numbers.size() == 1 || numbers.size() == ndim, "transposed_convolution: wrong number of ",
        name, "s; got ", numbers, ", expected one or ", ndim);
}

/// Dim `d` of a list that may have one number for all.
std::int64_t at(const Dims& numbers, int d) {
  return numbers[numbers.size() == 1 ? 0 : d];
}

/// The spatial sizes that a transposed convolution gives.
Dims transposed_sizes(const Shape& x, const Shape& weight, const ConvolutionOptions& options,
                      const Dims& output_padding) {
  const int ndim = spatial_dims("transposed_convolution", x);
  check(weight.size() == x.size(), "transposed_convolution: wrong number of dims of weight; got ",
        weight, ", expected ", x.size(), " as in x ", x);
  check_divides("stride", options.stride, ndim);
  check_divides("padding", options.padding, ndim);
  check_divides("dilation", options.dilation, ndim);
  check_divides("output padding", output_padding, ndim);
  Dims sizes;
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t stride = at(options.stride, d), dilation = at(options.dilation, d);
    const std::int64_t more = at(output_padding, d);
    check(more >= 0 && (more < stride || more < dilation),
          "transposed_convolution: output padding out of range; got ", more, ", expected 0 to ",
          std::max(stride, dilation) - 1);
    sizes.push_back((x[d + 2] - 1) * stride - 2 * at(options.padding, d) +
                    dilation * (weight[d + 2] - 1) + more + 1);
  }
  return sizes;
}

/// x with zeros behind its last positions, as many as windows of them would begin in the output
/// padding: each makes room for `stride` positions of it.
Tensor with_windows_in_padding(const Tensor& x, const ConvolutionOptions& options,
                               const Dims& output_padding) {
  const int ndim = unstacked_ndim(x);
  Pad::Attrs zeros{.before = Dims::filled(ndim, 0), .after = Dims::filled(ndim, 0)};
  bool any = false;
  for (int d = 2; d < ndim; ++d) {
    const std::int64_t stride = std::max<std::int64_t>(at(options.stride, d - 2), 1);
    zeros.after[d] = at(output_padding, d - 2) / stride;
    any = any || zeros.after[d] > 0;
  }
  return any ? pad(x, zeros) : x;
}

}  // namespace

void Convolution::infer(Infer& c, const Attrs& attrs) {
  check_factors(c, attrs.dtype);
  const ConvolutionGeometry g =
      convolution_geometry(c.op(), c.input(0).shape(), c.input(1).shape(), attrs.options);
  check_channel_bias(c, 2, g.out_channels);
  c.add_output(g.y_shape(), attrs.dtype);
}

void Convolution::reference(Kernel& k, const Attrs& attrs) {
  const ConvolutionGeometry g =
      convolution_geometry(k.op(), k.input(0).shape, k.input(1).shape, attrs.options);
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> x = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> weight = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> y(static_cast<std::size_t>(k.output().numel()), C(0));
    for_each_product(g, [&](std::int64_t, std::int64_t to, std::int64_t from, std::int64_t w) {
      y[static_cast<std::size_t>(to)] +=
          x[static_cast<std::size_t>(from)] * weight[static_cast<std::size_t>(w)];
    });
    add_bias(k, y, g.out_size());
    store_values(k.output(), y);
  });
}

void Convolution::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor gradient = v.gradient();
  if (v.needs(0)) {
    v.set(0, call<ConvolutionBackwardInput>({gradient, conj(v.input(1))},
                                            {attrs.options, spatial_sizes(v.input_meta(0).shape),
                                             attrs.dtype, v.input_meta(0).dtype}));
  }
  if (v.needs(1)) {
    v.set_batch_sum<ConvolutionBackwardWeight>(
        1, {gradient, conj(v.input(0))},
        {attrs.options, spatial_sizes(v.input_meta(1).shape), attrs.dtype, v.input_meta(1).dtype});
  }
  set_bias_gradient(v);
}

ShardRule Convolution::shard(const Infer& c, const Attrs&) {
  return convolution_rule(c, {true, false, false}, true);
}

void ConvolutionBackwardInput::infer(Infer& c, const Attrs& attrs) {
  check_factors(c, attrs.dtype);
  const ConvolutionGeometry g =
      geometry_of_input(c.op(), c.input(0).shape(), c.input(1).shape(), attrs.size, attrs.options);
  check_channel_bias(c, 2, g.in_channels);
  c.add_output(g.x_shape(), attrs.result);
}

void ConvolutionBackwardInput::reference(Kernel& k, const Attrs& attrs) {
  const ConvolutionGeometry g =
      geometry_of_input(k.op(), k.input(0).shape, k.input(1).shape, attrs.size, attrs.options);
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> weight = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> x(static_cast<std::size_t>(k.output().numel()), C(0));
    for_each_product(g, [&](std::int64_t, std::int64_t from, std::int64_t to, std::int64_t w) {
      x[static_cast<std::size_t>(to)] +=
          gradient[static_cast<std::size_t>(from)] * weight[static_cast<std::size_t>(w)];
    });
    add_bias(k, x, g.in_size());
    store_values(k.output(), x);
  });
}

void ConvolutionBackwardInput::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor result =
        call<Convolution>({v.gradient(), conj(v.input(1))}, {attrs.options, attrs.dtype});
    v.set(0, cast(result, v.input_meta(0).dtype));
  }
  if (v.needs(1)) {
    v.set(1,
          call_into<ConvolutionBackwardWeight>(v.destination(1), {conj(v.input(0)), v.gradient()},
                                               {attrs.options, spatial_sizes(v.input_meta(1).shape),
                                                attrs.dtype, v.input_meta(1).dtype}));
  }
  set_bias_gradient(v);
}

ShardRule ConvolutionBackwardInput::shard(const Infer& c, const Attrs&) {
  return convolution_rule(c, {true, false, false}, true);
}

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& options) {
  return call<Convolution>({x, weight, bias},
                           {options, product_dtype("convolution", {{"x", x}, {"weight", weight}})});
}

Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const ConvolutionOptions& options, const Dims& output_padding) {
  const DType dtype = product_dtype("transposed_convolution", {{"x", x}, {"weight", weight}});
  const Dims size = transposed_sizes(unstacked_shape(x), weight.shape(), options, output_padding);
  const Tensor padded = with_windows_in_padding(x, options, output_padding);
  return call<ConvolutionBackwardInput>({padded, weight, bias}, {options, size, dtype, dtype});
}

const Register<Convolution> register_convolution;
const Register<ConvolutionBackwardInput> register_convolution_grad_input;

}  // namespace tessera
