#include <tessera/nn/layers/recurrent_function.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/layers/projected_lstm.h>

namespace tessera::nn {
namespace {

const char* name_of(RecurrentCell cell) noexcept {
  switch (cell) {
    case RecurrentCell::lstm:
      return "lstm";
    case RecurrentCell::gru:
      return "gru";
    default:
      return "rnn";
  }
}

/// The state of one direction of one layer.
Tensor state_at(const Tensor& states, std::int64_t i) {
  return states.defined() ? select(states, 0, i) : states;
}

Tensor stacked(const std::vector<Tensor>& pieces) {
  return stack(std::vector<TensorRef>(pieces.begin(), pieces.end()));
}

/// The sizes that the first weights give.
struct RecurrentSizes {
  std::int64_t input, hidden, state, gates;
  std::int64_t directions, layers;
};

class RecurrentPass {
 public:
  /// Throws InvalidArgument for weights that do not fit each other.
  RecurrentPass(RecurrentCell cell, const std::vector<RecurrentWeights>& weights,
                const RecurrentCall& call)
      : cell_(cell), weights_(weights), call_(call), sizes_(sizes_of_first()) {
    for (std::size_t at = 0; at < weights.size(); ++at) {
      check_weights(at);
    }
  }

  /// x (T, B, input), or with batch_first (B, T, input).
  [[nodiscard]] RecurrentOutput run(const Tensor& x, const RecurrentStates& first) const;
  void check_shapes(const Tensor& x, const RecurrentStates& first) const;

 private:
  [[nodiscard]] RecurrentSizes sizes_of_first() const;
  void check_weights(std::size_t at) const;
  [[nodiscard]] RecurrentResult run_direction(const RecurrentWeights& own, const Tensor& x,
                                              const RecurrentStart& start, bool reverse) const;
  [[nodiscard]] Tensor run_layer(std::int64_t layer, const Tensor& x, const RecurrentStates& first,
                                 std::vector<RecurrentStates>& last) const;

  RecurrentCell cell_;
  const std::vector<RecurrentWeights>& weights_;
  const RecurrentCall& call_;
  RecurrentSizes sizes_;
};

RecurrentSizes RecurrentPass::sizes_of_first() const {
  const char* name = name_of(cell_);
  const auto count = static_cast<std::int64_t>(weights_.size());
  const std::int64_t directions = call_.bidirectional ? 2 : 1;
  check(count > 0 && count % directions == 0, name, ": wrong number of weights; got ", count,
        ", expected ", directions, " a layer");
  const RecurrentWeights& own = weights_[0];
  check(own.weight_ih.defined() && own.weight_ih.ndim() == 2 && own.weight_hh.defined() &&
            own.weight_hh.ndim() == 2,
        name, ": weight_ih and weight_hh need 2 dims each");
  check(!own.weight_hr.defined() || (cell_ == RecurrentCell::lstm && own.weight_hr.ndim() == 2),
        name, ": weight_hr is of an lstm, and needs 2 dims");
  const std::int64_t gates = own.weight_hh.size(0);
  const std::int64_t hidden = gates / gates_of(cell_);
  return {.input = own.weight_ih.size(1),
          .hidden = hidden,
          .state = own.weight_hr.defined() ? own.weight_hr.size(0) : hidden,
          .gates = hidden * gates_of(cell_),
          .directions = directions,
          .layers = count / directions};
}

void RecurrentPass::check_weights(std::size_t at) const {
  const RecurrentWeights& own = weights_[at];
  const auto expect = [&](const char* part, const Tensor& weight, const Shape& expected) {
    check(weight.defined(), name_of(cell_), ": weights ", at, " have no ", part, "; expected ",
          expected);
    check(weight.shape() == expected, name_of(cell_), ": wrong ", part, " of weights ", at,
          "; got ", weight.shape(), ", expected ", expected);
  };
  const bool first_layer = static_cast<std::int64_t>(at) < sizes_.directions;
  const std::int64_t width = first_layer ? sizes_.input : sizes_.state * sizes_.directions;
  expect("weight_ih", own.weight_ih, {sizes_.gates, width});
  expect("weight_hh", own.weight_hh, {sizes_.gates, sizes_.state});
  if (own.bias_ih.defined()) {
    expect("bias_ih", own.bias_ih, {sizes_.gates});
  }
  if (own.bias_hh.defined()) {
    expect("bias_hh", own.bias_hh, {sizes_.gates});
  }
  if (own.weight_hr.defined() || sizes_.state != sizes_.hidden) {
    expect("weight_hr", own.weight_hr, {sizes_.state, sizes_.hidden});
  }
}

void RecurrentPass::check_shapes(const Tensor& x, const RecurrentStates& first) const {
  const char* name = name_of(cell_);
  const Shape shape = unstacked_shape(x);
  check<RuntimeError>(shape.size() == 3 && shape.back() == sizes_.input, name,
                      ": wrong input; got shape ", shape, ", expected 2 or 3 dims, the last of ",
                      sizes_.input);
  const std::int64_t batch = shape[call_.batch_first ? 0 : 1];
  const auto check_state = [&](const Tensor& state, std::int64_t size) {
    const Shape expected{sizes_.layers * sizes_.directions, batch, size};
    if (state.defined() && unstacked_shape(state) != expected) {
      fail<RuntimeError>(name, ": wrong first state; got ", unstacked_shape(state), ", expected ",
                         expected);
    }
  };
  check_state(first.hidden, sizes_.state);
  check_state(first.cell, sizes_.hidden);
}

RecurrentOutput RecurrentPass::run(const Tensor& x, const RecurrentStates& first) const {
  // Batch first: a microbatch is a run of rows, and dropout finds samples in dim 0.
  Tensor h = contiguous(call_.batch_first ? x : transpose(x, 0, 1));
  std::vector<RecurrentStates> last;
  for (std::int64_t layer = 0; layer < sizes_.layers; ++layer) {
    if (layer > 0 && call_.dropout > 0) {
      h = dropout(h, call_.dropout);
    }
    h = run_layer(layer, h, first, last);
  }
  std::vector<Tensor> hidden, cell;
  for (const RecurrentStates& states : last) {
    hidden.push_back(states.hidden);
    cell.push_back(states.cell);
  }
  return {call_.batch_first ? h : contiguous(transpose(h, 0, 1)),
          {stacked(hidden), cell[0].defined() ? stacked(cell) : Tensor()}};
}

RecurrentResult RecurrentPass::run_direction(const RecurrentWeights& own, const Tensor& x,
                                             const RecurrentStart& start, bool reverse) const {
  const Tensor gates = linear(x, own.weight_ih, own.bias_ih);
  return own.weight_hr.defined()
             ? projected_lstm(gates, own.weight_hh, own.bias_hh, own.weight_hr, start, reverse)
             : recurrent(cell_, gates, own.weight_hh, own.bias_hh, start, reverse);
}

Tensor RecurrentPass::run_layer(std::int64_t layer, const Tensor& x, const RecurrentStates& first,
                                std::vector<RecurrentStates>& last) const {
  std::vector<Tensor> outputs;
  for (std::int64_t direction = 0; direction < sizes_.directions; ++direction) {
    const std::int64_t at = layer * sizes_.directions + direction;
    const RecurrentStart start{state_at(first.hidden, at), state_at(first.cell, at), call_.lengths};
    const RecurrentResult result =
        run_direction(weights_[static_cast<std::size_t>(at)], x, start, direction == 1);
    outputs.push_back(result.output);
    last.push_back({result.hidden, result.cell});
  }
  return outputs.size() == 1 ? outputs[0] : concat({outputs[0], outputs[1]}, 2);
}

}  // namespace

RecurrentOutput run_recurrent(RecurrentCell cell, const Tensor& x, const RecurrentStates& first,
                              const std::vector<RecurrentWeights>& weights,
                              const RecurrentCall& call) {
  const RecurrentPass pass(cell, weights, call);
  const auto [in, hidden, cell_state] = stacked_alike(x, first.hidden, first.cell);
  if (unstacked_ndim(in) != 2) {
    pass.check_shapes(in, {hidden, cell_state});
    return pass.run(in, {hidden, cell_state});
  }
  const int batch = call.batch_first ? 0 : 1;
  const auto widen = [](const Tensor& state) {
    return state.defined() ? unsqueeze(state, 1) : state;
  };
  const Tensor one = unsqueeze(in, batch);
  const RecurrentStates from{widen(hidden), widen(cell_state)};
  pass.check_shapes(one, from);
  const RecurrentOutput result = pass.run(one, from);
  const Tensor& cells = result.last.cell;
  return {squeeze(result.output, batch),
          {squeeze(result.last.hidden, 1), cells.defined() ? squeeze(cells, 1) : cells}};
}

}  // namespace tessera::nn
