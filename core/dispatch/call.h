// The call pipeline, through which every op goes: stages, kernel, record.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include <tessera/core/dispatch/op.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

using Outputs = InlineVector<Tensor, 2>;

/// Runs `op`. Outputs that are defined already are destinations: their memory is written, they must
/// have the inferred shape and dtype, and one that is also an input makes the call in place.
/// Throws what the op's shape rule throws, before anything is computed. `sums` says how a sum over
/// the batch is handed over, where that is not as the circumstances of the call say.
void call(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs,
          std::optional<BatchSum> sums = {});

/// Runs `Op` and gives its outputs.
template <OpStruct Op>
Outputs call_all(std::span<const TensorRef> inputs, const typename Op::Attrs& attrs = {},
                 std::optional<BatchSum> sums = {}) {
  Outputs outputs;
  call(op_def<Op>(), inputs, &attrs, outputs, sums);
  return outputs;
}
template <OpStruct Op>
Outputs call_all(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {},
                 std::optional<BatchSum> sums = {}) {
  return call_all<Op>(std::span<const TensorRef>(inputs.begin(), inputs.size()), attrs, sums);
}

/// Runs `Op` and gives its only output.
template <OpStruct Op>
Tensor call(std::span<const TensorRef> inputs, const typename Op::Attrs& attrs = {},
            std::optional<BatchSum> sums = {}) {
  return std::move(call_all<Op>(inputs, attrs, sums)[0]);
}
template <OpStruct Op>
Tensor call(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {},
            std::optional<BatchSum> sums = {}) {
  return std::move(call_all<Op>(inputs, attrs, sums)[0]);
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
