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
class OptionalOperand {
 public:
  OptionalOperand(const Kernel& k, int i) {
    if (k.has_input(i)) {
      dense_.emplace(k.input(i));
    }
  }
  [[nodiscard]] const void* data() const { return dense_ ? dense_->data() : nullptr; }
  [[nodiscard]] const float* floats() const { return static_cast<const float*>(data()); }

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

bool forward_kernel(Kernel& k, const RecurrentAttrs& attrs) {
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  if (!is_fast(attrs.dtype) || !is_fast(k.input(1).dtype) || !is_of(k, 2, DType::f32) ||
      !is_of(k, 3, DType::f32) || !is_of(k, 4, DType::f32) || !has_fast_outputs(k)) {
    return false;
  }
  const RecurrentSizes size(k.input(0).shape, gates_of(attrs.cell));
  const std::vector<std::int64_t> lengths = lengths_of(k, 5, size.batch, size.steps);
  const DenseOperand x(k.input(0));
  const OptionalOperand bias(k, 2), start(k, 3), start_cell(k, 4);
  auto call = call_of<RecurrentForward>(k, attrs, size, 1);
  call.lengths = lengths.data();
  call.x = x.data(), call.bias = bias.floats();
  call.start = start.floats(), call.start_cell = start_cell.floats();
  call.output = bytes_of(k.output(0));
  call.last = k.output(1).data<float>();
  call.before = bytes_of(k.output(2 + lstm)), call.kept_values = bytes_of(k.output(3 + lstm));
  if (lstm) {
    call.last_cell = k.output(2).data<float>(), call.cells = k.output(5).data<float>();
  }
  recurrent_forward(call);
  return true;
}

bool backward_kernel(Kernel& k, const RecurrentAttrs& attrs) {
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  if (!is_fast(attrs.dtype) || !is_of(k, 0, attrs.dtype) || !is_of(k, 1, DType::f32) ||
      !is_of(k, 2, DType::f32) || !is_fast(k.input(3).dtype) || !is_of(k, 5, attrs.dtype) ||
      !is_of(k, 6, attrs.dtype) || !is_of(k, 7, DType::f32) || !has_fast_outputs(k)) {
    return false;
  }
  const RecurrentSizes size(k.input(0).shape, 1);
  const std::vector<std::int64_t> lengths = lengths_of(k, 4, size.batch, size.steps);
  const DenseOperand output(k.input(0)), before(k.input(5)), kept(k.input(6));
  const OptionalOperand last(k, 1), last_cell(k, 2), cells(k, 7);
  auto call = call_of<RecurrentBackward>(k, attrs, size, 3);
  call.lengths = lengths.data();
  call.output = output.data(), call.before = before.data(), call.kept_values = kept.data();
  call.last = last.floats(), call.last_cell = last_cell.floats(), call.cells = cells.floats();
  call.to_x = bytes_of(k.output(0)), call.to_start = k.output(1).data<float>();
  if (lstm) {
    call.to_start_cell = k.output(2).data<float>();
  } else if (attrs.cell == RecurrentCell::gru) {
    call.to_hidden = bytes_of(k.output(2));
  }
  recurrent_backward(call);
  return true;
}

const RegisterKernel<Recurrent, forward_kernel> register_recurrent{DeviceType::cpu};
const RegisterKernel<tessera::RecurrentBackward, backward_kernel> register_recurrent_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
