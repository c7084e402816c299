// What the bindings of sums over dims share.
#pragma once

#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/support/reduce.h>

namespace tessera::cpu {

/// out = the sum of input 0 over the chosen dims, times `scale`. Every layout and cut is brought to
/// rows that are summed in one way, so a microbatch has the same bits alone and among others. False
/// for dtypes that are not fast.
[[nodiscard]] bool run_sum(Kernel&, const DimSet& reduced, double scale);

}  // namespace tessera::cpu
