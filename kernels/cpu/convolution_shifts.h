// The gradient of a convolution's weight as products of shifted images, for tile registers.
//
// x and the gradient of y are laid on one grid, with so many zeros that no row runs into the next.
// What a tap sums is then a product of two matrices (channels, places) whose places differ by the
// tap's shift: each image is packed once for all taps, and no windows are copied. A stride
// splits x into phases, one for each remainder.
#pragma once

#include <tessera/kernels/cpu/convolution.h>

namespace tessera::cpu {

/// Whether it suits: the gradient of a weight of one group, in bf16, of one or two spatial dims,
/// with whole tiles of channels, where products take tile registers.
[[nodiscard]] bool shifts_suit(const ConvolutionTask&);

/// Carries one that suits out on the thread pool. Samples are summed in blocks, which are added in
/// order.
void make_weight_by_shifts(const ConvolutionTask&);

}  // namespace tessera::cpu
