#include <tessera/nn/layers/conv_transpose.h>

#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/layers/spatial.h>

namespace tessera::nn {
namespace {

ConvSetup setup_of(const char* layer, int ndim, std::int64_t in_channels, std::int64_t out_channels,
                   const PerDim& kernel_size, const ConvTransposeOptions& options) {
  ConvSetup s{.layer = layer, .in_channels = in_channels, .out_channels = out_channels};
  s.kernel_size = kernel_size.each(layer, "kernel size", ndim, 1);
  s.stride = options.stride.each(layer, "stride", ndim, 1);
  s.padding = options.padding.each(layer, "padding", ndim, 0);
  s.dilation = options.dilation.each(layer, "dilation", ndim, 1);
  s.output_padding = options.output_padding.each(layer, "output padding", ndim, 0);
  s.groups = options.groups;
  s.transposed = true;
  s.bias = options.bias;
  s.weight_init = options.weight_init, s.bias_init = options.bias_init;
  return s;
}

/// The output padding that leads from positions `in` to `size`.
Dims padding_to(const ConvSetup& s, const Shape& in, const Dims& size) {
  const int ndim = s.kernel_size.size();
  check<ValueError>(size.size() == ndim, s.layer, ": wrong number of output sizes; got ", size,
                    ", expected ", ndim);
  Dims padding;
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t least = (in[d + 2] - 1) * s.stride[d] - 2 * s.padding[d] +
                               s.dilation[d] * (s.kernel_size[d] - 1) + 1;
    padding.push_back(size[d] - least);
    check<ValueError>(padding[d] >= 0 && padding[d] < s.stride[d], s.layer,
                      ": output size out of reach; got ", size, ", expected ", least, " to ",
                      least + s.stride[d] - 1, " in dim ", d);
  }
  return padding;
}

}  // namespace

ConvTransposeNd::ConvTransposeNd(const char* layer, int ndim, std::int64_t in_channels,
                                 std::int64_t out_channels, const PerDim& kernel_size,
                                 const ConvTransposeOptions& options)
    : ConvBase(setup_of(layer, ndim, in_channels, out_channels, kernel_size, options)) {}

std::tuple<std::int64_t, std::int64_t, PerDim, ConvTransposeOptions> ConvTransposeNd::arguments()
    const {
  const ConvSetup& s = setup();
  return {in_channels(), s.out_channels, s.kernel_size,
          ConvTransposeOptions{.stride = s.stride,
                               .padding = s.padding,
                               .output_padding = s.output_padding,
                               .groups = s.groups,
                               .bias = bias.defined(),
                               .dilation = s.dilation}};
}

Tensor ConvTransposeNd::forward(const Tensor& x, const std::optional<Dims>& output_size) const {
  const ConvSetup& s = setup();
  const ConvolutionOptions options{
      .stride = s.stride, .padding = s.padding, .dilation = s.dilation, .groups = s.groups};
  return over_samples(s.layer, x, ndim(), [&](const Tensor& samples) {
    const Dims more =
        output_size ? padding_to(s, unstacked_shape(samples), *output_size) : s.output_padding;
    return transposed_convolution(samples, weight, bias, options, more);
  });
}

}  // namespace tessera::nn
