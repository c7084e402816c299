// Convolutions of f64 as products with the windows of padded images.
#pragma once

#include <tessera/kernels/cpu/convolution.h>

namespace tessera::cpu {

/// Carries out a task whose arrays are all f64. The gradient of a weight is one chain over the
/// samples of a microbatch and their positions.
void convolve_f64(const ConvolutionTask&);

}  // namespace tessera::cpu
