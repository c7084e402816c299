#include <tessera/nn/layers/recurrent.h>

#include <cmath>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/layers/projected_lstm.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

void check_sizes(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                 const RecurrentOptions& options) {
  check<ValueError>(input_size >= 1 && hidden_size >= 1 && options.num_layers >= 1,
                    "recurrent: sizes must be positive; got input_size ", input_size,
                    ", hidden_size ", hidden_size, ", num_layers ", options.num_layers);
  check<ValueError>(options.dropout >= 0 && options.dropout <= 1, "recurrent: wrong dropout; got ",
                    options.dropout, ", expected one in [0, 1]");
  const std::int64_t projected = options.proj_size;
  check<ValueError>(projected == 0 || cell == RecurrentCell::lstm,
                    "recurrent: only an lstm takes a proj_size; got ", projected);
  check<ValueError>(projected >= 0 && projected < hidden_size, "recurrent: wrong proj_size; got ",
                    projected, ", expected one in [0, ", hidden_size, ")");
  if (options.dropout > 0 && options.num_layers == 1) {
    log_warning("recurrent: dropout acts between layers; got ", options.dropout, " and one layer");
  }
}

/// The state of one direction of one layer.
Tensor state_at(const Tensor& states, std::int64_t i) {
  return states.defined() ? select(states, 0, i) : states;
}

Tensor stacked(const std::vector<Tensor>& pieces) {
  return stack(std::vector<TensorRef>(pieces.begin(), pieces.end()));
}

}  // namespace

Recurrent::Recurrent(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                     const RecurrentOptions& options)
    : cell_(cell), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  check_sizes(cell, input_size, hidden_size, options);
  for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      layers_.push_back(make_direction(layer, direction == 1));
    }
  }
}

Recurrent::Direction Recurrent::make_direction(std::int64_t layer, bool reverse) {
  const std::string suffix = "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
  const std::int64_t width = layer == 0 ? input_size_ : state_size() * directions();
  const std::int64_t gates = hidden_size_ * gates_of(cell_);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size_));
  const auto make = [&](const std::string& name, const Shape& shape) {
    return Parameter(this, name + suffix, shape, init::uniform(-bound, bound));
  };
  Direction made;
  made.weight_ih = make("weight_ih", {gates, width});
  made.weight_hh = make("weight_hh", {gates, state_size()});
  if (options_.bias) {
    made.bias_ih = make("bias_ih", {gates});
    made.bias_hh = make("bias_hh", {gates});
  }
  if (options_.proj_size > 0) {
    made.weight_hr = make("weight_hr", {options_.proj_size, hidden_size_});
  }
  return made;
}

void Recurrent::check_shapes(const Tensor& x, const States& first) const {
  if (x.ndim() != 3 || x.size(-1) != input_size_) {
    fail<RuntimeError>(class_name(), ": wrong input; got shape ", x.shape(),
                       ", expected 2 or 3 dims, the last of ", input_size_);
  }
  const std::int64_t batch = x.size(options_.batch_first ? 0 : 1);
  const auto check_state = [&](const Tensor& state, std::int64_t size) {
    const Shape expected{options_.num_layers * directions(), batch, size};
    if (state.defined() && state.shape() != expected) {
      fail<RuntimeError>(class_name(), ": wrong first state; got ", state.shape(), ", expected ",
                         expected);
    }
  };
  check_state(first.hidden, state_size());
  check_state(first.cell, hidden_size_);
}

Recurrent::Result Recurrent::run(const Tensor& x, const States& first,
                                 const Tensor& lengths) const {
  if (x.ndim() != 2) {
    return run_batch(x, first, lengths);
  }
  const int batch = options_.batch_first ? 0 : 1;
  const auto widen = [](const Tensor& state) {
    return state.defined() ? unsqueeze(state, 1) : state;
  };
  const Result result =
      run_batch(unsqueeze(x, batch), {widen(first.hidden), widen(first.cell)}, lengths);
  const Tensor& cell = result.last.cell;
  return {squeeze(result.output, batch),
          {squeeze(result.last.hidden, 1), cell.defined() ? squeeze(cell, 1) : cell}};
}

Recurrent::Result Recurrent::run_batch(const Tensor& x, const States& first,
                                       const Tensor& lengths) const {
  check_shapes(x, first);
  // Batch first: a microbatch is a run of rows, and dropout finds samples in dim 0.
  Tensor h = contiguous(options_.batch_first ? x : transpose(x, 0, 1));
  std::vector<States> last;
  for (std::int64_t layer = 0; layer < options_.num_layers; ++layer) {
    if (layer > 0 && training() && options_.dropout > 0) {
      h = dropout(h, options_.dropout);
    }
    h = run_layer(layer, h, first, lengths, last);
  }
  std::vector<Tensor> hidden, cell;
  for (const States& states : last) {
    hidden.push_back(states.hidden);
    cell.push_back(states.cell);
  }
  return {options_.batch_first ? h : contiguous(transpose(h, 0, 1)),
          {stacked(hidden), cell[0].defined() ? stacked(cell) : Tensor()}};
}

RecurrentResult Recurrent::run_direction(const Direction& own, const Tensor& x,
                                         const RecurrentStart& start, bool reverse) const {
  const Tensor gates = linear(x, own.weight_ih, own.bias_ih);
  return options_.proj_size > 0
             ? projected_lstm(gates, own.weight_hh, own.bias_hh, own.weight_hr, start, reverse)
             : recurrent(cell_, gates, own.weight_hh, own.bias_hh, start, reverse);
}

Tensor Recurrent::run_layer(std::int64_t layer, const Tensor& x, const States& first,
                            const Tensor& lengths, std::vector<States>& last) const {
  std::vector<Tensor> outputs;
  for (std::int64_t direction = 0; direction < directions(); ++direction) {
    const std::int64_t at = layer * directions() + direction;
    const Direction& own = layers_[static_cast<std::size_t>(at)];
    const RecurrentResult result = run_direction(
        own, x, {state_at(first.hidden, at), state_at(first.cell, at), lengths}, direction == 1);
    outputs.push_back(result.output);
    last.push_back({result.hidden, result.cell});
  }
  return outputs.size() == 1 ? outputs[0] : concat({outputs[0], outputs[1]}, 2);
}

std::string Recurrent::extra_repr() const {
  std::string text = tessera::detail::concat(input_size_, ", ", hidden_size_);
  const auto add = [&](bool differs, const char* name, const auto& value) {
    text += differs ? tessera::detail::concat(", ", name, "=", value) : "";
  };
  add(options_.proj_size != 0, "proj_size", options_.proj_size);
  add(options_.num_layers != 1, "num_layers", options_.num_layers);
  add(!options_.bias, "bias", "False");
  add(options_.batch_first, "batch_first", "True");
  add(options_.dropout != 0, "dropout", python_text(options_.dropout));
  add(options_.bidirectional, "bidirectional", "True");
  return text;
}

}  // namespace tessera::nn
