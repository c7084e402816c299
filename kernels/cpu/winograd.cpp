// Convolutions of 3 x 3 windows by Winograd's minimal filtering: tiles of 4 x 4 outputs from 36
// products instead of 144 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// CVPR 2016, section 4), and their gradients by the transposed algorithms.
//
// Transforms and sums are f32; with bf16 factors are rounded to it first, as elsewhere. Errors are
// about twice those of sums of products. A nan or an infinity spreads over its tile.
#include <tessera/kernels/cpu/convolution_ways.h>

#include <tessera/kernels/cpu/winograd_tiles.h>

namespace tessera::cpu {
namespace {

bool is_dense_3x3(const ConvolutionGeometry& g) {
  constexpr Spatial kOnes{1, 1, 1};
  return g.ndim == 2 && g.groups == 1 && g.kernel == Spatial{1, 3, 3} && g.stride == kOnes &&
         g.dilation == kOnes && g.padding[1] <= 2 && g.padding[2] <= 2;
}

// With four tiles the transform of a weight pays; with half of what tiles compute thrown away they
// save nothing.
bool fills_tiles(const Spatial& out, std::int64_t samples) {
  constexpr std::int64_t kFewestTiles = 4, kFewestOfTile = kWinogradTile * kWinogradTile / 2;
  const auto along = [](std::int64_t size) { return (size + kWinogradTile - 1) / kWinogradTile; };
  const std::int64_t tiles = along(out[1]) * along(out[2]);
  return samples * tiles >= kFewestTiles && out[1] * out[2] >= kFewestOfTile * tiles;
}

}  // namespace

bool winograd_suits(const ConvolutionTask& t) {
  const ConvolutionGeometry& g = t.shape;
  const bool to_x = t.result == ConvolutionResult::x,
             to_weight = t.result == ConvolutionResult::weight;
  return is_dense_3x3(g) && g.in_channels % kWinogradChannels == 0 &&
         g.out_channels % kWinogradChannels == 0 &&
         fills_tiles(to_x ? g.in : g.out, to_weight ? g.batch / t.cuts : 1);
}

void convolve_by_winograd(const ConvolutionTask& t) {
  (t.result == ConvolutionResult::weight ? make_weight_by_winograd : make_images_by_winograd)(t);
}

}  // namespace tessera::cpu
