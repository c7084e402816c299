// Bindings that all elementwise ops share.
#pragma once

#include <tessera/core/dispatch/op.h>
#include <tessera/kernels/cpu/elementwise.h>

namespace tessera::cpu {

[[nodiscard]] bool run_unary(Kernel&, Unary);
[[nodiscard]] bool run_parametric(Kernel&, Parametric, const Parameters&);
/// Inputs: the gradient, and what the slope is a function of, broadcast.
[[nodiscard]] bool run_gradient(Kernel&, UnaryGradient);
/// Operands of the output's dtype, broadcast, or the second one a single number.
[[nodiscard]] bool run_binary(Kernel&, Binary);

}  // namespace tessera::cpu
