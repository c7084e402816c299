#include <algorithm>
#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/recurrent.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/recurrent.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

/// One unit in one step backwards: what the step kept, and the gradients of its state, which become
/// those of the state before it.
struct UnitGradient {
  double before, cell_before;
  double kept[4];
  double hidden, cell;
  double x[4], u[4];  ///< gradients of the gates

  void step(RecurrentCell kind) {
    switch (kind) {
      case RecurrentCell::rnn_tanh:
        x[0] = u[0] = hidden * (1 - kept[0] * kept[0]);
        hidden = 0;
        break;
      case RecurrentCell::rnn_relu:
        x[0] = u[0] = kept[0] > 0 ? hidden : 0;
        hidden = 0;
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
    const double in = kept[0], forget = kept[1], made = kept[2], out = kept[3];
    const double squashed = std::tanh(forget * cell_before + in * made);
    cell += hidden * out * (1 - squashed * squashed);
    x[0] = cell * made * in * (1 - in);
    x[1] = cell * cell_before * forget * (1 - forget);
    x[2] = cell * in * (1 - made * made);
    x[3] = hidden * squashed * out * (1 - out);
    std::copy_n(x, 4, u);
    cell *= forget;
    hidden = 0;
  }
  void step_gru() {
    const double reset = kept[0], update = kept[1], made = kept[2];
    x[2] = hidden * (1 - update) * (1 - made * made);
    x[1] = u[1] = hidden * (before - made) * update * (1 - update);
    x[0] = u[0] = x[2] * kept[3] * reset * (1 - reset);
    u[2] = x[2] * reset;
    hidden *= update;
  }
};

using Values = std::vector<double>;

/// The naive loop over sequences and steps, from the last taken to the first.
class RecurrentGradient {
 public:
  RecurrentGradient(Kernel& k, const RecurrentAttrs& attrs)
      : k_(k),
        attrs_(attrs),
        gates_(gates_of(attrs.cell)),
        size_(k.input(0).shape, 1),
        output_(dense_values<double>(k.input(0))),
        hidden_(values_or_zeros(1)),
        cell_(values_or_zeros(2)),
        weight_(dense_values<double>(k.input(3), attrs.dtype)),
        before_(dense_values<double>(k.input(5))),
        kept_(dense_values<double>(k.input(6))),
        cells_(k.has_input(7) ? dense_values<double>(k.input(7)) : Values(before_.size())),
        to_x_(before_.size() * static_cast<std::size_t>(gates_)),
        to_u_(to_x_) {}

  void run() {
    const auto lengths = lengths_of(k_, 4, size_.batch, size_.steps);
    for (std::int64_t b = 0; b < size_.batch; ++b) {
      for (std::int64_t n = size_.steps; n-- > 0;) {
        const std::int64_t t = time_of(n, size_.steps, attrs_.reverse);
        if (t < lengths[static_cast<std::size_t>(b)]) {
          step(b, b * size_.steps + t);
        }
      }
    }
  }

  void store() {
    store_values(k_.output(0), to_x_);
    store_values(k_.output(1), hidden_);
    if (attrs_.cell == RecurrentCell::lstm) {
      store_values(k_.output(2), cell_);
    } else if (attrs_.cell == RecurrentCell::gru) {
      store_values(k_.output(2), to_u_);
    }
  }

 private:
  [[nodiscard]] Values values_or_zeros(int i) const {
    return k_.has_input(i) ? dense_values<double>(k_.input(i))
                           : Values(static_cast<std::size_t>(size_.batch * size_.width));
  }
  static double& at(Values& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

  void step(std::int64_t b, std::int64_t row) {
    const std::int64_t width = size_.width;
    Values factors(static_cast<std::size_t>(gates_ * width));
    for (std::int64_t j = 0; j < width; ++j) {
      UnitGradient unit{};
      unit.before = at(before_, row * width + j);
      unit.cell_before = at(cells_, row * width + j);
      for (int i = 0; i < kept_of(attrs_.cell); ++i) {
        unit.kept[i] = at(kept_, (row * kept_of(attrs_.cell) + i) * width + j);
      }
      unit.hidden = at(hidden_, b * width + j) + at(output_, row * width + j);
      unit.cell = at(cell_, b * width + j);
      unit.step(attrs_.cell);
      at(hidden_, b * width + j) = unit.hidden;
      at(cell_, b * width + j) = unit.cell;
      for (int gate = 0; gate < gates_; ++gate) {
        at(to_x_, (row * gates_ + gate) * width + j) = unit.x[gate];
        at(to_u_, (row * gates_ + gate) * width + j) = unit.u[gate];
        at(factors, gate * width + j) = unit.u[gate];
      }
    }
    round_values(factors, attrs_.dtype);
    for (std::int64_t line = 0; line < gates_ * width; ++line) {
      for (std::int64_t j = 0; j < width; ++j) {
        at(hidden_, b * width + j) += at(factors, line) * at(weight_, line * width + j);
      }
    }
  }

  Kernel& k_;
  const RecurrentAttrs& attrs_;
  int gates_;
  RecurrentSizes size_;
  Values output_, hidden_, cell_, weight_, before_, kept_, cells_;
  Values to_x_, to_u_;
};

}  // namespace

void RecurrentBackward::infer(Infer& c, const Attrs& attrs) {
  const Shape& shape = c.input(0).shape();
  const bool lstm = attrs.cell == RecurrentCell::lstm;
  check_layout(shape.size() == 3, c.op(), "gradient", shape, "(batch, time, width)");
  check_floating(c.op(), "products", attrs.dtype);
  const RecurrentSizes size(shape, 1);
  const Shape state{size.batch, size.width};
  const Shape gates{size.batch, size.steps, size.width * gates_of(attrs.cell)};
  check_saved(c, 0, shape);
  check_optional(c, 1, state, "gradient of the last hidden state");
  check_optional(c, 2, state, "gradient of the last cell state");
  check_saved(c, 3, {gates[2], size.width});
  check_lengths(c, 4, size.batch);
  check_saved(c, 5, shape);
  check_saved(c, 6, {size.batch, size.steps, size.width * kept_of(attrs.cell)});
  if (lstm) {
    check_saved(c, 7, shape);
  }
  c.add_output(gates, attrs.dtype);
  for (int i = 0; i <= lstm; ++i) {
    c.add_output(state, state_dtype(attrs.dtype));
  }
  if (attrs.cell == RecurrentCell::gru) {
    c.add_output(gates, attrs.dtype);
  }
}

void RecurrentBackward::reference(Kernel& k, const Attrs& attrs) {
  RecurrentGradient run(k, attrs);
  run.run();
  run.store();
}

void RecurrentBackward::vjp(Vjp&, const Attrs&) {
  fail<Unsupported>(
      "recurrent: second derivatives are not supported; write the steps out, as in LSTMCell");
}

ShardRule RecurrentBackward::shard(const Infer& c, const Attrs&) {
  return sequences_rule(c, 3, -1);
}

const Register<RecurrentBackward> register_recurrent_backward;

}  // namespace tessera
