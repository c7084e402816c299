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

template <class Op, Unary f>
bool unary_kernel(Kernel& k, const typename Op::Attrs&) {
  return run_unary(k, f);
}
template <class Op, UnaryGradient f>
bool unary_gradient_kernel(Kernel& k, const typename Op::Attrs&) {
  return run_gradient(k, f);
}
template <class Op, Binary f>
bool binary_kernel(Kernel& k, const typename Op::Attrs&) {
  return run_binary(k, f);
}

}  // namespace tessera::cpu
