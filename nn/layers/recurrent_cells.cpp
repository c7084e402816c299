#include <tessera/nn/layers/recurrent_cells.h>

#include <cmath>

#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/layers/zero_state.h>

namespace tessera::nn {
namespace {

/// What the steps of all cells do first.
class CellStep {
 public:
  CellStep(const char* name, RecurrentCell cell, const Tensor& x, const RecurrentWeights& weights)
      : name_(name), x_(x), weights_(weights) {
    check_weights(cell);
    check<RuntimeError>(
        unstacked_ndim(x) >= 1 && unstacked_ndim(x) <= 2 && x.size(-1) == weights.weight_ih.size(1),
        name, ": wrong input; got shape ", unstacked_shape(x),
        ", expected 1 or 2 dims, the last of ", weights.weight_ih.size(1));
  }

  [[nodiscard]] std::int64_t hidden_size() const { return weights_.weight_hh.size(1); }

  /// `given`, or zeros to fit x.
  [[nodiscard]] Tensor state(const Tensor& given) const {
    if (!given.defined()) {
      return zero_state(x_, hidden_size(), x_.dtype());
    }
    const auto [x, state] = stacked_alike(x_, given);
    Shape expected = unstacked_shape(x);
    expected[expected.size() - 1] = hidden_size();
    check<RuntimeError>(unstacked_shape(state) == expected, name_, ": wrong state; got ",
                        unstacked_shape(state), ", expected ", expected);
    return given;
  }

  /// The parts of the gates that come from x and from the hidden state.
  struct Gates {
    Tensor x, hidden;
  };
  [[nodiscard]] Gates gates(const Tensor& hidden) const {
    return {linear(x_, weights_.weight_ih, weights_.bias_ih),
            linear(hidden, weights_.weight_hh, weights_.bias_hh)};
  }

 private:
  void check_weights(RecurrentCell cell) const {
    const Tensor &of_x = weights_.weight_ih, &of_state = weights_.weight_hh;
    check(of_x.defined() && of_state.defined() && of_x.ndim() == 2 && of_state.ndim() == 2, name_,
          ": weight_ih and weight_hh need 2 dims each");
    const std::int64_t lines = of_state.size(1) * gates_of(cell);
    check(of_x.size(0) == lines && of_state.size(0) == lines, name_,
          ": weights do not fit each other; got ", of_x.shape(), " and ", of_state.shape(),
          ", expected ", lines, " rows each");
    for (const Tensor& bias : {weights_.bias_ih, weights_.bias_hh}) {
      if (bias.defined() && bias.shape() != Shape{lines}) {
        fail<InvalidArgument>(name_, ": wrong bias; got ", bias.shape(), ", expected ",
                              Shape{lines});
      }
    }
  }

  const char* name_;
  const Tensor& x_;
  const RecurrentWeights& weights_;
};

}  // namespace

RecurrentCellBase::RecurrentCellBase(RecurrentCell cell, std::int64_t input_size,
                                     std::int64_t hidden_size, bool bias) {
  check<ValueError>(input_size >= 1 && hidden_size >= 1,
                    "recurrent cell: sizes must be positive; got input_size ", input_size,
                    ", hidden_size ", hidden_size);
  const std::int64_t lines = hidden_size * gates_of(cell);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  weight_ih = Parameter(this, "weight_ih", {lines, input_size}, init::uniform(-bound, bound));
  weight_hh = Parameter(this, "weight_hh", {lines, hidden_size}, init::uniform(-bound, bound));
  bias_ih = parameter_if(bias, this, "bias_ih", {lines}, init::uniform(-bound, bound));
  bias_hh = parameter_if(bias, this, "bias_hh", {lines}, init::uniform(-bound, bound));
}

std::string RecurrentCellBase::extra_repr() const {
  return tessera::detail::concat(weight_ih.shape()[1], ", ", hidden_size(),
                                 bias_ih.defined() ? "" : ", bias=False");
}

Tensor RNNCell::forward(const Tensor& x, const Tensor& hidden) const {
  return nonlinearity_ == Nonlinearity::tanh ? rnn_tanh_cell(x, hidden, weights())
                                             : rnn_relu_cell(x, hidden, weights());
}

std::string RNNCell::extra_repr() const {
  return RecurrentCellBase::extra_repr() +
         (nonlinearity_ == Nonlinearity::tanh ? "" : ", nonlinearity=relu");
}

Tensor rnn_tanh_cell(const Tensor& x, const Tensor& hidden, const RecurrentWeights& weights) {
  const CellStep step("rnn_tanh_cell", RecurrentCell::rnn_tanh, x, weights);
  const auto part = step.gates(step.state(hidden));
  return tanh(part.x + part.hidden);
}

Tensor rnn_relu_cell(const Tensor& x, const Tensor& hidden, const RecurrentWeights& weights) {
  const CellStep step("rnn_relu_cell", RecurrentCell::rnn_relu, x, weights);
  const auto part = step.gates(step.state(hidden));
  return relu(part.x + part.hidden);
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const RecurrentWeights& weights) {
  const CellStep step("lstm_cell", RecurrentCell::lstm, x, weights);
  const Tensor before = step.state(state.second);
  const auto part = step.gates(step.state(state.first));
  const auto gate = split(part.x + part.hidden, step.hidden_size(), -1);
  const Tensor cell = sigmoid(gate[1]) * before + sigmoid(gate[0]) * tanh(gate[2]);
  return {sigmoid(gate[3]) * tanh(cell), cell};
}

Tensor gru_cell(const Tensor& x, const Tensor& hidden, const RecurrentWeights& weights) {
  const CellStep step("gru_cell", RecurrentCell::gru, x, weights);
  const Tensor before = step.state(hidden);
  const auto part = step.gates(before);
  const auto of_x = split(part.x, step.hidden_size(), -1);
  const auto of_hidden = split(part.hidden, step.hidden_size(), -1);
  const Tensor reset = sigmoid(of_x[0] + of_hidden[0]);
  const Tensor update = sigmoid(of_x[1] + of_hidden[1]);
  const Tensor made = tanh(of_x[2] + reset * of_hidden[2]);
  return made + update * (before - made);
}

}  // namespace tessera::nn
