// Convolutions of 3 x 3 windows by Winograd's minimal filtering: tiles of 4 x 4 outputs from 36
// products instead of 144 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// CVPR 2016, section 4), and their gradients by the transposed algorithms.
//
// Transforms and sums are f32; with bf16 factors are rounded to it first, as elsewhere. Errors are
// about twice those of sums of products. A nan or an infinity spreads over its tile.
#pragma once

#include <tessera/kernels/cpu/convolution.h>

namespace tessera::cpu {

/// Whether it suits: 3 x 3, dense, many channels, and several tiles. Those of one sample count, for
/// a sample is computed alike whatever their number, and for a weight those of a microbatch.
[[nodiscard]] bool winograd_suits(const ConvolutionTask&);

/// Carries a convolution that suits out on the thread pool.
void convolve_by_winograd(const ConvolutionTask&);

/// What `convolve_by_winograd` does for y or x, and for the weight.
void make_images_by_winograd(const ConvolutionTask&);
void make_weight_by_winograd(const ConvolutionTask&);

}  // namespace tessera::cpu
