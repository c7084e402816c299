#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/upsample.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer upsample_layer(const Attributes& a) {
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
  return layer<nn::Upsample>(options);
}

template <class M, const char* kFactor>
BuiltLayer shuffle(const Attributes& a) {
  return layer<M>(a.integer(kFactor));
}

constexpr char kUpscale[] = "upscale_factor";
constexpr char kDownscale[] = "downscale_factor";

const Counterparts<Layer> kResampling{
    {"Upsample", {upsample_layer}},
    {"PixelShuffle", {shuffle<nn::PixelShuffle, kUpscale>}},
    {"PixelUnshuffle", {shuffle<nn::PixelUnshuffle, kDownscale>}},
};

}  // namespace
}  // namespace tessera::oracle
