// What the kernels of softmax and log_softmax share.
#pragma once

#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera::cpu {

/// softmax, or its logarithm, along the last dim of arrays that lie row behind row; false for
/// others.
[[nodiscard]] bool run_softmax(Kernel& k, const AlongDimAttrs& attrs, bool logarithm);
/// The gradient, from its own and the output.
[[nodiscard]] bool run_softmax_backward(Kernel& k, const AlongDimAttrs& attrs, bool logarithm);

}  // namespace tessera::cpu
