// The ways to carry out convolutions that suit some of them.
#pragma once

#include <tessera/kernels/cpu/convolution.h>

namespace tessera::cpu {

/// Carries out a task whose arrays are all f64. The gradient of a weight is one chain over the
/// samples of a microbatch and their positions.
void convolve_f64(const ConvolutionTask&);

/// Whether it suits: the gradient of a weight of one group, in bf16, of one or two spatial dims,
/// with whole tiles of channels, where products take tile registers.
[[nodiscard]] bool shifts_suit(const ConvolutionTask&);

/// Carries one that suits out on the thread pool. Samples are summed in blocks, which are added in
/// order.
void make_weight_by_shifts(const ConvolutionTask&);

/// Whether it suits: 3 x 3, dense, many channels, and several tiles. Those of one sample count, for
/// a sample is computed alike whatever their number, and for a weight those of a microbatch.
[[nodiscard]] bool winograd_suits(const ConvolutionTask&);

/// Carries a convolution that suits out on the thread pool.
void convolve_by_winograd(const ConvolutionTask&);

}  // namespace tessera::cpu
