// Calls that write their result into their first input.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Runs `Op` with `x` as its output. Throws InvalidArgument when the result has another shape or
/// dtype than `x`, RuntimeError when `x` is a leaf that requires a gradient, or several elements of
/// it share memory.
template <OpStruct Op>
const Tensor& call_in_place(const Tensor& x, std::initializer_list<TensorRef> inputs,
                            const typename Op::Attrs& attrs = {}) {
  static_assert(Op::info.in_place, "this op cannot run in place");
  static_cast<void>(call_into<Op>(x, inputs, attrs));
  return x;
}

}  // namespace tessera
