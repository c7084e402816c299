// The windows of an image as a matrix, so that a convolution is a product of matrices (Chellapilla
// et al., "High Performance Convolutional Neural Networks for Document Processing", 2006).
#pragma once

#include <tessera/core/ops/support/convolution.h>

namespace tessera::cpu {

/// columns (channels * taps, out...) of an image (channels, in...), elements of `size` bytes (2 or
/// 4); zeros for the padding.
void take_columns(const ConvolutionGeometry&, std::int64_t channels, std::size_t size,
                  const char* image, char* columns);

/// image (channels, in...) = what of f32 columns (channels * taps, out...) belongs to each element,
/// added in the order of taps.
void add_columns(const ConvolutionGeometry&, std::int64_t channels, const float* columns,
                 float* image);

}  // namespace tessera::cpu
