#include <tessera/core/ops/recurrent.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/support/recurrent.h>

namespace tessera {

std::ostream& operator<<(std::ostream& out, RecurrentCell value) {
  constexpr const char* kNames[] = {"rnn_tanh", "rnn_relu", "lstm", "gru"};
  return out << kNames[static_cast<std::size_t>(value)];
}
namespace {

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

/// One unit in one step: its gates, from the input and from the hidden state, and its state.
struct Unit {
  double x[4], u[4];
  double hidden, cell;
  double kept[4];

  void step(RecurrentCell kind) {
    switch (kind) {
      case RecurrentCell::rnn_tanh:
        hidden = kept[0] = std::tanh(x[0] + u[0]);
        break;
      case RecurrentCell::rnn_relu:
        hidden = kept[0] = x[0] + u[0] < 0 ? 0 : x[0] + u[0];
        break;
      case RecurrentCell::lstm:
        step_lstm();
        break;
      case RecurrentCell::gru:
        step_gru();
        break;
    }
  }

 private:
  void step_lstm() {
    for (const int gate : {0, 1, 3}) {
      kept[gate] = logistic(x[gate] + u[gate]);
    }
    kept[2] = std::tanh(x[2] + u[2]);
    cell = kept[1] * cell + kept[0] * kept[2];
    hidden = kept[3] * std::tanh(cell);
  }
  void step_gru() {
    kept[0] = logistic(x[0] + u[0]);
    kept[1] = logistic(x[1] + u[1]);
    kept[2] = std::tanh(x[2] + kept[0] * u[2]);
    kept[3] = u[2];
    hidden = (1 - kept[1]) * kept[2] + kept[1] * hidden;
  }
};

using Values = std::vector<double>;

/// The naive loop over sequences and steps.
class RecurrentForward {
 public:
  RecurrentForward(Kernel& k, const RecurrentAttrs& attrs)
      : k_(k),
        attrs_(attrs),
        gates_(gates_of(attrs.cell)),
        kept_per_unit_(kept_of(attrs.cell)),
        size_(k.input(0).shape, gates_),
        x_(dense_values<double>(k.input(0))),
        weight_(dense_values<double>(k.input(1), attrs.dtype)),
        bias_(values_or_zeros(2, gates_ * size_.width)),
        hidden_(values_or_zeros(3, size_.batch * size_.width)),
        cell_(values_or_zeros(4, size_.batch * size_.width)) {
    const std::int64_t states = size_.batch * size_.steps * size_.width;
    output_ = hidden_before_ = cell_before_ = zeros_of(states);
    kept_ = zeros_of(states * kept_per_unit_);
  }

  void run() {
    const auto lengths = lengths_of(k_, 5, size_.batch, size_.steps);
    for (std::int64_t b = 0; b < size_.batch; ++b) {
      for (std::int64_t n = 0; n < size_.steps; ++n) {
        const std::int64_t t = time_of(n, size_.steps, attrs_.reverse);
        step(b, b * size_.steps + t, t < lengths[static_cast<std::size_t>(b)]);
      }
    }
  }

  void store() {
    const bool lstm = attrs_.cell == RecurrentCell::lstm;
    store_values(k_.output(0), output_);
    store_values(k_.output(1), hidden_);
    store_values(k_.output(2 + lstm), hidden_before_);
    store_values(k_.output(3 + lstm), kept_);
    if (lstm) {
      store_values(k_.output(2), cell_);
      store_values(k_.output(5), cell_before_);
    }
  }

 private:
  static Values zeros_of(std::int64_t count) { return Values(static_cast<std::size_t>(count)); }
  [[nodiscard]] Values values_or_zeros(int i, std::int64_t count) const {
    return k_.has_input(i) ? dense_values<double>(k_.input(i)) : zeros_of(count);
  }
  static double& at(Values& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

  void step(std::int64_t b, std::int64_t row, bool taken) {
    const std::int64_t width = size_.width;
    Values factors(hidden_.begin() + b * width, hidden_.begin() + (b + 1) * width);
    round_values(factors, attrs_.dtype);
    for (std::int64_t j = 0; j < width; ++j) {
      double& hidden = at(hidden_, b * width + j);
      double& cell = at(cell_, b * width + j);
      at(hidden_before_, row * width + j) = hidden;
      at(cell_before_, row * width + j) = cell;
      if (taken) {
        Unit unit = unit_of(row, j, factors);
        unit.hidden = hidden, unit.cell = cell;
        unit.step(attrs_.cell);
        hidden = at(output_, row * width + j) = unit.hidden;
        cell = unit.cell;
        for (int i = 0; i < kept_per_unit_; ++i) {
          at(kept_, (row * kept_per_unit_ + i) * width + j) = unit.kept[i];
        }
      }
    }
  }

  Unit unit_of(std::int64_t row, std::int64_t j, const Values& factors) {
    Unit unit{};
    for (int gate = 0; gate < gates_; ++gate) {
      const std::int64_t line = gate * size_.width + j;
      unit.x[gate] = at(x_, row * gates_ * size_.width + line);
      unit.u[gate] = at(bias_, line);
      for (std::int64_t i = 0; i < size_.width; ++i) {
        unit.u[gate] += at(weight_, line * size_.width + i) * factors[static_cast<std::size_t>(i)];
      }
    }
    return unit;
  }

  Kernel& k_;
  const RecurrentAttrs& attrs_;
  int gates_, kept_per_unit_;
  RecurrentSizes size_;
  Values x_, weight_, bias_, hidden_, cell_;
  Values output_, hidden_before_, cell_before_, kept_;
};

}  // namespace

void Recurrent::infer(Infer& c, const Attrs& attrs) {
  const Shape& x = c.input(0).shape();
  const int gates = gates_of(attrs.cell);
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  check(x.size() == 3 && x[2] > 0 && x[2] % gates == 0, "recurrent: wrong shape of x; got ", x,
        ", expected (batch, time, ", gates, " gates)");
  check(is_floating(attrs.dtype) && c.input(0).dtype() == attrs.dtype,
        "recurrent: x has the wrong dtype; got ", c.input(0).dtype(), ", expected ", attrs.dtype);
  const RecurrentSizes size(x, gates);
  const Shape state{size.batch, size.width};
  const Shape weight{x[2], size.width};
  check(c.input(1).shape() == weight && is_floating(c.input(1).dtype()),
        "recurrent: wrong weight; got ", c.input(1).shape(), " ", c.input(1).dtype(), ", expected ",
        weight, " of a floating dtype");
  check_optional(c, 2, {x[2]}, "bias");
  if (c.has_input(2)) {
    check_not_narrowed("recurrent", "bias", c.input(2).dtype(), attrs.dtype);
  }
  check_optional(c, 3, state, "hidden state");
  check_optional(c, 4, state, "cell state");
  check(lstm || !c.has_input(4),
        "recurrent: only an lstm has a cell state; got one, expected none");
  check_lengths(c, 5, size.batch);
  c.add_output({size.batch, size.steps, size.width}, attrs.dtype);
  for (int i = 0; i <= lstm; ++i) {
    c.add_output(state, state_dtype(attrs.dtype));
  }
  c.add_output({size.batch, size.steps, size.width}, attrs.dtype);
  c.add_output({size.batch, size.steps, size.width * kept_of(attrs.cell)}, attrs.dtype);
  if (lstm) {
    c.add_output({size.batch, size.steps, size.width}, state_dtype(attrs.dtype));
  }
}

void Recurrent::reference(Kernel& k, const Attrs& attrs) {
  RecurrentForward run(k, attrs);
  run.run();
  run.store();
}

void Recurrent::vjp(Vjp& v, const Attrs& attrs) {
  const int states = attrs.cell == RecurrentCell::lstm ? 2 : 1;
  const Tensor output = v.gradient(0);
  const Tensor last = v.has_gradient(1) ? v.gradient(1) : Tensor();
  const Tensor last_cell = states == 2 && v.has_gradient(2) ? v.gradient(2) : Tensor();
  const Tensor weight = v.input(1);
  const Tensor lengths = v.has_input(5) ? v.input(5) : Tensor();
  const Tensor before = v.output(1 + states);
  const Tensor kept = v.output(2 + states);
  const Tensor cells = states == 2 ? v.output(5) : Tensor();
  const Outputs results = call_all<RecurrentBackward>(
      {output, last, last_cell, weight, lengths, before, kept, cells}, attrs);
  const Tensor& of_hidden = attrs.cell == RecurrentCell::gru ? results[2] : results[0];
  v.set(0, [&] { return results[0]; });
  if (v.needs(1)) {
    v.set_batch_sum<LinearBackwardWeight>(1, {of_hidden, before},
                                          {attrs.dtype, v.input_meta(1).dtype});
  }
  if (v.has_input(2) && v.needs(2)) {
    v.set(2, call_into<LinearBackwardBias>(v.destination(2), {of_hidden}, {v.input_meta(2).dtype}));
  }
  for (int i = 0; i < states; ++i) {
    if (v.has_input(3 + i) && v.needs(3 + i)) {
      v.set(3 + i, cast(results[static_cast<std::size_t>(1 + i)], v.input_meta(3 + i).dtype));
    }
  }
}

ShardRule Recurrent::shard(const Infer& c, const Attrs&) {
  return sequences_rule(c, 1, 2);
}

namespace {

Tensor as_state(const Tensor& x, DType dtype) {
  return x.defined() ? cast(x, state_dtype(dtype)) : x;
}

}  // namespace

RecurrentResult recurrent(RecurrentCell cell, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, const RecurrentStart& start, bool reverse) {
  static_cast<void>(product_dtype("recurrent", {{"x", x}, {"weight", weight}}));
  const Tensor hidden = as_state(start.hidden, x.dtype());
  const Tensor first_cell = as_state(start.cell, x.dtype());
  const Outputs results = call_all<Recurrent>({x, weight, bias, hidden, first_cell, start.lengths},
                                              {cell, reverse, x.dtype()});
  return {results[0], results[1], cell == RecurrentCell::lstm ? results[2] : Tensor()};
}

const Register<Recurrent> register_recurrent;

}  // namespace tessera
