#include <tessera/nn/layers/recurrent_cells.h>

#include <cmath>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/layers/zero_state.h>

namespace tessera::nn {

RecurrentCellBase::RecurrentCellBase(RecurrentCell cell, std::int64_t input_size,
                                     std::int64_t hidden_size, bool bias) {
  check<ValueError>(input_size >= 1 && hidden_size >= 1,
                    "recurrent cell: sizes must be positive; got input_size ", input_size,
                    ", hidden_size ", hidden_size);
  const std::int64_t lines = hidden_size * gates_of(cell);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  weight_ih = Parameter(this, "weight_ih", {lines, input_size}, init::uniform(-bound, bound));
  weight_hh = Parameter(this, "weight_hh", {lines, hidden_size}, init::uniform(-bound, bound));
  bias_ih = bias ? Parameter(this, "bias_ih", {lines}, init::uniform(-bound, bound))
                 : register_parameter("bias_ih", nullptr);
  bias_hh = bias ? Parameter(this, "bias_hh", {lines}, init::uniform(-bound, bound))
                 : register_parameter("bias_hh", nullptr);
}

Tensor RecurrentCellBase::or_zeros(const Tensor& state, const Tensor& x) const {
  if (x.ndim() < 1 || x.ndim() > 2 || x.size(-1) != weight_ih.shape()[1]) {
    fail<RuntimeError>(class_name(), ": wrong input; got shape ", x.shape(),
                       ", expected 1 or 2 dims, the last of ", weight_ih.shape()[1]);
  }
  Shape shape = x.shape();
  shape[shape.size() - 1] = hidden_size();
  if (!state.defined()) {
    return zero_state(x, hidden_size(), x.dtype());
  }
  if (state.shape() != shape) {
    fail<RuntimeError>(class_name(), ": wrong state; got ", state.shape(), ", expected ", shape);
  }
  return state;
}

RecurrentCellBase::Gates RecurrentCellBase::gates(const Tensor& x, const Tensor& hidden) const {
  return {linear(x, weight_ih, bias_ih), linear(hidden, weight_hh, bias_hh)};
}

std::string RecurrentCellBase::extra_repr() const {
  return tessera::detail::concat(weight_ih.shape()[1], ", ", hidden_size(),
                                 bias_ih.defined() ? "" : ", bias=False");
}

Tensor RNNCell::forward(const Tensor& x, const Tensor& hidden) const {
  const Gates part = gates(x, or_zeros(hidden, x));
  const Tensor sum = part.x + part.hidden;
  return nonlinearity_ == Nonlinearity::tanh ? tanh(sum) : relu(sum);
}

std::string RNNCell::extra_repr() const {
  return RecurrentCellBase::extra_repr() +
         (nonlinearity_ == Nonlinearity::tanh ? "" : ", nonlinearity=relu");
}

LstmState LSTMCell::forward(const Tensor& x, const LstmState& state) const {
  const Gates part = gates(x, or_zeros(state.first, x));
  const auto gate = split(part.x + part.hidden, hidden_size(), -1);
  const Tensor kept = sigmoid(gate[1]) * or_zeros(state.second, x);
  const Tensor cell = kept + sigmoid(gate[0]) * tanh(gate[2]);
  return {sigmoid(gate[3]) * tanh(cell), cell};
}

Tensor GRUCell::forward(const Tensor& x, const Tensor& hidden) const {
  const Tensor before = or_zeros(hidden, x);
  const Gates part = gates(x, before);
  const auto of_x = split(part.x, hidden_size(), -1);
  const auto of_hidden = split(part.hidden, hidden_size(), -1);
  const Tensor reset = sigmoid(of_x[0] + of_hidden[0]);
  const Tensor update = sigmoid(of_x[1] + of_hidden[1]);
  const Tensor made = tanh(of_x[2] + reset * of_hidden[2]);
  return made + update * (before - made);
}

}  // namespace tessera::nn
