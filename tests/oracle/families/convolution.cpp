#include <tessera/core/ops/convolution.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/spatial.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

nn::PaddingMode padding_mode_of(const Attributes& a) {
  using enum nn::PaddingMode;
  static const std::map<std::string, nn::PaddingMode> names{
      {"zeros", zeros}, {"reflect", reflect}, {"replicate", replicate}, {"circular", circular}};
  return names.at(a.text("padding_mode", "zeros"));
}

nn::ConvPadding padding_of(const Attributes& a) {
  return a.is_text("padding") ? nn::ConvPadding(a.text("padding").c_str())
                              : nn::ConvPadding(a.dims("padding", {0}));
}

nn::ConvOptions conv_options(const Attributes& a) {
  return {.stride = a.dims("stride", {1}),
          .padding = padding_of(a),
          .dilation = a.dims("dilation", {1}),
          .groups = a.integer("groups", 1),
          .bias = a.flag("bias", true),
          .padding_mode = padding_mode_of(a)};
}

template <class M>
BuiltLayer conv(const Attributes& a) {
  return layer<M>(a.integer("in_channels"), a.integer("out_channels"), a.dims("kernel_size"),
                  conv_options(a));
}

Tensor conv_function(const NamedTensors& in, const Attributes& a) {
  return nn::conv(in["x"], in["weight"], in["bias"], conv_options(a));
}

/// The function takes batches.
Tensor conv_transpose_function(const NamedTensors& in, const Attributes& a) {
  const ConvolutionOptions options{.stride = a.dims("stride", {1}),
                                   .padding = a.dims("padding", {0}),
                                   .dilation = a.dims("dilation", {1}),
                                   .groups = a.integer("groups", 1)};
  const int dims = in["weight"].ndim() - 2;
  return nn::over_samples("conv_transpose", in["x"], dims, [&](const Tensor& x) {
    return transposed_convolution(x, in["weight"], in["bias"], options,
                                  a.dims("output_padding", {0}));
  });
}

template <class M>
BuiltLayer conv_transpose(const Attributes& a) {
  const nn::ConvTransposeOptions options{.stride = a.dims("stride", {1}),
                                         .padding = a.dims("padding", {0}),
                                         .output_padding = a.dims("output_padding", {0}),
                                         .groups = a.integer("groups", 1),
                                         .bias = a.flag("bias", true),
                                         .dilation = a.dims("dilation", {1})};
  return layer<M>(a.integer("in_channels"), a.integer("out_channels"), a.dims("kernel_size"),
                  options);
}

const Counterparts<Layer> kConvolution{
    {"Conv1d", {conv<nn::Conv1d>, conv_function}},
    {"Conv2d", {conv<nn::Conv2d>, conv_function}},
    {"Conv3d", {conv<nn::Conv3d>, conv_function}},
    {"ConvTranspose1d", {conv_transpose<nn::ConvTranspose1d>, conv_transpose_function}},
    {"ConvTranspose2d", {conv_transpose<nn::ConvTranspose2d>, conv_transpose_function}},
    {"ConvTranspose3d", {conv_transpose<nn::ConvTranspose3d>, conv_transpose_function}},
};

}  // namespace
}  // namespace tessera::oracle
