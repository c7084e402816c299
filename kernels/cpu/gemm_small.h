// Products so small that packing them and planning tiles would take longer than the sums.
#pragma once

#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

/// Carries out a small product of f32 on this thread, with the bits of the long way. False, and
/// nothing done, for others.
[[nodiscard]] bool gemm_small(const Gemm&);

}  // namespace tessera::cpu
