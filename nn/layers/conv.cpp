#include <tessera/nn/layers/conv.h>

#include <tessera/core/ops/convolution.h>
#include <tessera/nn/layers/spatial.h>

namespace tessera::nn {
namespace {

ConvSetup setup_of(const char* layer, int ndim, std::int64_t in_channels, std::int64_t out_channels,
                   const PerDim& kernel_size, const ConvOptions& options) {
  ConvSetup s{.layer = layer, .in_channels = in_channels, .out_channels = out_channels};
  s.kernel_size = kernel_size.each(layer, "kernel size", ndim, 1);
  s.stride = options.stride.each(layer, "stride", ndim, 1);
  s.padding = options.padding.numbers().each(layer, "padding", ndim, 0);
  s.dilation = options.dilation.each(layer, "dilation", ndim, 1);
  s.output_padding = Dims::filled(ndim, 0);
  s.padding_name = options.padding.name();
  s.groups = options.groups;
  s.padding_mode = options.padding_mode;
  s.bias = options.bias;
  s.weight_init = options.weight_init, s.bias_init = options.bias_init;
  check<ValueError>(s.padding_name != "same" || s.stride == Dims::filled(ndim, 1), layer,
                    ": padding \"same\" needs a stride of 1; got ", s.stride);
  return s;
}

/// The positions that are added in front and behind.
struct Ends {
  Dims before, after;
};

Ends ends_of(const ConvSetup& s) {
  Ends ends{s.padding, s.padding};
  for (int d = 0; s.padding_name == "same" && d < s.padding.size(); ++d) {
    const std::int64_t all = s.dilation[d] * (s.kernel_size[d] - 1);
    ends.before[d] = all / 2;
    ends.after[d] = all - all / 2;
  }
  return ends;
}

Tensor convolve(const ConvSetup& s, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Ends ends = ends_of(s);
  const bool inside = s.padding_mode == PaddingMode::zeros && ends.before == ends.after;
  const ConvolutionOptions options{.stride = s.stride,
                                   .padding = inside ? ends.before : Dims{0},
                                   .dilation = s.dilation,
                                   .groups = s.groups};
  return over_samples(s.layer, x, s.kernel_size.size(), [&](const Tensor& samples) {
    return convolution(inside ? samples : pad_by(s.padding_mode, samples, ends.before, ends.after),
                       weight, bias, options);
  });
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  check(weight.ndim() >= 3 && weight.ndim() <= 5,
        "conv: wrong number of dims of the weight; got shape ", weight.shape(),
        ", expected (out, in, kernel...) with one to three sizes of the kernel");
  Dims kernel;
  for (int d = 2; d < weight.ndim(); ++d) {
    kernel.push_back(weight.size(d));
  }
  return convolve(setup_of("conv", kernel.size(), weight.size(1) * options.groups, weight.size(0),
                           kernel, options),
                  x, weight, bias);
}

ConvPadding::ConvPadding(const char* name) : name_(name) {
  check<ValueError>(name_ == "same" || name_ == "valid", "ConvPadding: unknown name; got \"", name_,
                    "\", expected \"same\" or \"valid\"");
}

ConvNd::ConvNd(const char* layer, int ndim, std::int64_t in_channels, std::int64_t out_channels,
               const PerDim& kernel_size, const ConvOptions& options)
    : ConvBase(setup_of(layer, ndim, in_channels, out_channels, kernel_size, options)) {}

std::tuple<std::int64_t, std::int64_t, PerDim, ConvOptions> ConvNd::arguments() const {
  const ConvSetup& s = setup();
  const bool named = !s.padding_name.empty();
  return {in_channels(), s.out_channels, s.kernel_size,
          ConvOptions{.stride = s.stride,
                      .padding = named ? ConvPadding(s.padding_name.c_str()) : s.padding,
                      .dilation = s.dilation,
                      .groups = s.groups,
                      .bias = bias.defined(),
                      .padding_mode = s.padding_mode}};
}

Tensor ConvNd::forward(const Tensor& x) const {
  return convolve(setup(), x, weight, bias);
}

}  // namespace tessera::nn
