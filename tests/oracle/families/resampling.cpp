#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/upsample.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

nn::UpsampleOptions upsample_options_of(const Attributes& a) {
  nn::UpsampleOptions options{.mode = a.text("mode", "nearest")};
  if (a.has("size")) {
    options.size = nn::PerDim(a.integer("size"));
  }
  if (a.has("scale_factor")) {
    options.scale_factor = nn::ScaleFactor(a.number("scale_factor"));
  }
  if (a.has("align_corners")) {
    options.align_corners = a.flag("align_corners", false);
  }
  return options;
}

BuiltLayer upsample_layer(const Attributes& a) {
  return layer<nn::Upsample>(upsample_options_of(a));
}

Tensor interpolate_function(const NamedTensors& in, const Attributes& a) {
  return nn::interpolate(in["x"], upsample_options_of(a));
}

template <class M, const char* kFactor>
BuiltLayer shuffle(const Attributes& a) {
  return layer<M>(a.integer(kFactor));
}

template <Tensor (*f)(const Tensor&, std::int64_t), const char* kFactor>
Tensor shuffle_function(const NamedTensors& in, const Attributes& a) {
  return f(in["x"], a.integer(kFactor));
}

constexpr char kUpscale[] = "upscale_factor";
constexpr char kDownscale[] = "downscale_factor";

const Counterparts<Layer> kResampling{
    {"Upsample", {upsample_layer, interpolate_function}},
    {"PixelShuffle",
     {shuffle<nn::PixelShuffle, kUpscale>, shuffle_function<pixel_shuffle, kUpscale>}},
    {"PixelUnshuffle",
     {shuffle<nn::PixelUnshuffle, kDownscale>, shuffle_function<pixel_unshuffle, kDownscale>}},
};

}  // namespace
}  // namespace tessera::oracle
