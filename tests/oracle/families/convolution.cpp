#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>

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

template <class M>
BuiltLayer conv(const Attributes& a) {
  const nn::ConvOptions options{.stride = a.dims("stride", {1}),
                                .padding = padding_of(a),
                                .dilation = a.dims("dilation", {1}),
                                .groups = a.integer("groups", 1),
                                .bias = a.flag("bias", true),
                                .padding_mode = padding_mode_of(a)};
  return layer<M>(a.integer("in_channels"), a.integer("out_channels"), a.dims("kernel_size"),
                  options);
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
    {"Conv1d", {conv<nn::Conv1d>}},
    {"Conv2d", {conv<nn::Conv2d>}},
    {"Conv3d", {conv<nn::Conv3d>}},
    {"ConvTranspose1d", {conv_transpose<nn::ConvTranspose1d>}},
    {"ConvTranspose2d", {conv_transpose<nn::ConvTranspose2d>}},
    {"ConvTranspose3d", {conv_transpose<nn::ConvTranspose3d>}},
};

}  // namespace
}  // namespace tessera::oracle
