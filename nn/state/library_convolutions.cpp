// The library's own layers over positions.
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/upsample.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

std::vector<RegisteredClass> library_convolutions() {
  return library_classes<Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
                         AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AvgPool1d,
                         AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d, PixelShuffle,
                         PixelUnshuffle, Upsample>();
}

}  // namespace tessera::nn::detail
