// The call pipeline, through which every op goes: stages, kernel, record.
#pragma once

#include <initializer_list>
#include <span>

#include <tessera/core/dispatch/op.h>

namespace tessera {

using Outputs = InlineVector<Tensor, 2>;

/// Runs `op`. Outputs that are defined already are destinations: their memory is written, they must
/// have the inferred shape and dtype, and one that is also an input makes the call in place.
/// Throws what the op's shape rule throws, before anything is computed.
void call(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs);

/// Runs `Op` and gives its outputs.
template <OpStruct Op>
Outputs call_all(std::span<const TensorRef> inputs, const typename Op::Attrs& attrs = {}) {
  Outputs outputs;
  call(op_def<Op>(), inputs, &attrs, outputs);
  return outputs;
}
template <OpStruct Op>
Outputs call_all(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {}) {
  return call_all<Op>(std::span<const TensorRef>(inputs.begin(), inputs.size()), attrs);
}

/// Runs `Op` and gives its only output.
template <OpStruct Op>
Tensor call(std::span<const TensorRef> inputs, const typename Op::Attrs& attrs = {}) {
  return std::move(call_all<Op>(inputs, attrs)[0]);
}
template <OpStruct Op>
Tensor call(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {}) {
  return std::move(call_all<Op>(inputs, attrs)[0]);
}

/// Runs `Op` with its only output written into `destination`; an undefined destination means fresh
/// memory. Gives the output.
template <OpStruct Op>
Tensor call_into(const Tensor& destination, std::initializer_list<TensorRef> inputs,
                 const typename Op::Attrs& attrs = {}) {
  Outputs outputs;
  outputs.push_back(destination);
  call(op_def<Op>(), std::span<const TensorRef>(inputs.begin(), inputs.size()), &attrs, outputs);
  return std::move(outputs[0]);
}

}  // namespace tessera
