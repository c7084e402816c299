#include <tessera/core/ops/support/recurrent.h>

#include <optional>
#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/recurrent.h>

namespace tessera::cpu {
namespace {

/// True for a missing input, or one of `dtype`.
bool is_of(const Kernel& k, int i, DType dtype) {
  return !k.has_input(i) || k.input(i).dtype == dtype;
}

/// A dense input of one dtype; null when it is missing.
template <class Number>
class OptionalOperand {
 public:
  OptionalOperand(const Kernel& k, int i) {
    if (k.has_input(i)) {
      dense_.emplace(k.input(i));
    }
  }
  [[nodiscard]] const void* data() const { return dense_ ? dense_->data() : nullptr; }
  [[nodiscard]] const Number* numbers() const { return static_cast<const Number*>(data()); }

 private:
  std::optional<DenseOperand> dense_;
};

template <class Call>
Call call_of(const Kernel& k, const RecurrentAttrs& attrs, const RecurrentSizes& size,
             int weight_input) {
  const TensorImpl& weight = k.input(weight_input);
  Call call;
  call.cell = attrs.cell, call.reverse = attrs.reverse, call.dtype = attrs.dtype;
  call.batch = size.batch, call.steps = size.steps, call.width = size.width;
  call.weight = {bytes_of(weight), weight.dtype, weight.strides[0], weight.strides[1]};
  return call;
}

/// Whether a call's factors, and the rest, are what kernels in Numbers take.
template <class Number>
bool takes_factors(const Kernel& k, DType compute, DType weight) {
  return (compute == DType::f64) == (dtype_of<Number> == DType::f64) &&
         is_factor(weight, compute) && is_fast_or_f64(compute) &&
         are_outputs_of(k, dtype_of<Number>);
}

template <class Number>
bool run_forward(Kernel& k, const RecurrentAttrs& attrs) {
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  constexpr DType kSums = dtype_of<Number>;
  if (!takes_factors<Number>(k, attrs.dtype, k.input(1).dtype) || !is_of(k, 2, kSums) ||
      !is_of(k, 3, kSums) || !is_of(k, 4, kSums)) {
    return false;
  }
  const RecurrentSizes size(k.input(0).shape, gates_of(attrs.cell));
  const std::vector<std::int64_t> lengths = lengths_of(k, 5, size.batch, size.steps);
  const DenseOperand x(k.input(0));
  const OptionalOperand<Number> bias(k, 2), start(k, 3), start_cell(k, 4);
  auto call = call_of<RecurrentForwardOf<Number>>(k, attrs, size, 1);
  call.lengths = lengths.data();
  call.x = x.data(), call.bias = bias.numbers();
  call.start = start.numbers(), call.start_cell = start_cell.numbers();
  call.output = bytes_of(k.output(0));
  call.last = k.output(1).data<Number>();
  call.before = bytes_of(k.output(2 + lstm)), call.kept_values = bytes_of(k.output(3 + lstm));
  if (lstm) {
    call.last_cell = k.output(2).data<Number>(), call.cells = k.output(5).data<Number>();
  }
  recurrent_forward(call);
  return true;
}

template <class Number>
bool run_backward(Kernel& k, const RecurrentAttrs& attrs) {
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  constexpr DType kSums = dtype_of<Number>;
  if (!takes_factors<Number>(k, attrs.dtype, k.input(3).dtype) || !is_of(k, 0, attrs.dtype) ||
      !is_of(k, 1, kSums) || !is_of(k, 2, kSums) || !is_of(k, 5, attrs.dtype) ||
      !is_of(k, 6, attrs.dtype) || !is_of(k, 7, kSums)) {
    return false;
  }
  const RecurrentSizes size(k.input(0).shape, 1);
  const std::vector<std::int64_t> lengths = lengths_of(k, 4, size.batch, size.steps);
  const DenseOperand output(k.input(0)), before(k.input(5)), kept(k.input(6));
  const OptionalOperand<Number> last(k, 1), last_cell(k, 2), cells(k, 7);
  auto call = call_of<RecurrentBackwardOf<Number>>(k, attrs, size, 3);
  call.lengths = lengths.data();
  call.output = output.data(), call.before = before.data(), call.kept_values = kept.data();
  call.last = last.numbers(), call.last_cell = last_cell.numbers(), call.cells = cells.numbers();
  call.to_x = bytes_of(k.output(0)), call.to_start = k.output(1).data<Number>();
  if (lstm) {
    call.to_start_cell = k.output(2).data<Number>();
  } else if (attrs.cell == RecurrentCell::gru) {
    call.to_hidden = bytes_of(k.output(2));
  }
  recurrent_backward(call);
  return true;
}

bool forward_kernel(Kernel& k, const RecurrentAttrs& attrs) {
  return run_forward<float>(k, attrs) || run_forward<double>(k, attrs);
}
bool backward_kernel(Kernel& k, const RecurrentAttrs& attrs) {
  return run_backward<float>(k, attrs) || run_backward<double>(k, attrs);
}

const RegisterKernel<Recurrent, forward_kernel> register_recurrent{DeviceType::cpu};
const RegisterKernel<tessera::RecurrentBackward, backward_kernel> register_recurrent_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
