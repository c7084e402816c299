// Reference sums that respect microbatch borders.
#pragma once

#include <cstdint>

#include <tessera/core/dispatch/kernel.h>

namespace tessera {

/// Sums input 0 into output 0, whose (dense) offset for an element of the input follows from
/// strides `to`. Each microbatch is summed alone, in row-major order, in double (or int64 or
/// complex), and rounded once; the pieces are then added along the tree in the output's dtype, or
/// written one by one when the kernel asks for them stacked.
void sum_by_microbatch(Kernel& k, const Strides& to);

}  // namespace tessera
