// Bindings that all elementwise ops share.
#pragma once

#include <tessera/core/dispatch/op.h>
#include <tessera/kernels/cpu/elementwise.h>

namespace tessera::cpu {

[[nodiscard]] bool run_unary(Kernel&, Unary);
/// Operands of equal shape, or the second one a single number or the last dims of the first.
[[nodiscard]] bool run_binary(Kernel&, Binary);

template <class Op, Unary f>
bool unary_kernel(Kernel& k, const typename Op::Attrs&) {
  return run_unary(k, f);
}
template <class Op, Binary f>
bool binary_kernel(Kernel& k, const typename Op::Attrs&) {
  return run_binary(k, f);
}

}  // namespace tessera::cpu
