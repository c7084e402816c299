// Bindings that layer norm and RMS norm share.
#pragma once

#include <tessera/core/ops/support/norm.h>

namespace tessera::cpu {

[[nodiscard]] bool run_norm(Kernel&, const NormAttrs&, bool centered);
[[nodiscard]] bool run_norm_backward(Kernel&, const NormBackwardAttrs&, bool centered);

}  // namespace tessera::cpu
