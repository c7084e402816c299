#include <tessera/nn/layers/projected_lstm.h>

#include <algorithm>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/layers/zero_state.h>

namespace tessera::nn {
namespace {

void check_lengths(const Tensor& lengths, std::int64_t batch, std::int64_t steps) {
  if (!lengths.defined()) {
    return;
  }
  check(lengths.ndim() == 1 && lengths.size(0) == batch && is_integral(lengths.dtype()),
        "lstm: wrong lengths; got ", lengths.shape(), " ", lengths.dtype(), ", expected ",
        Shape{batch}, " of integers");
  if (lengths.device().type != DeviceType::meta) {
    const auto values = lengths.to_vector<std::int64_t>();
    check(std::ranges::all_of(values, [&](std::int64_t n) { return n >= 0 && n <= steps; }),
          "lstm: a length is out of range; expected all in [0, ", steps, "]");
  }
}

class ProjectedLstm {
 public:
  ProjectedLstm(const Tensor& x, const Tensor& weight_hh, const Tensor& bias_hh,
                const Tensor& weight_hr, const RecurrentStart& start)
      : x_(x),
        state_dtype_(x.dtype() == DType::f64 ? DType::f64 : DType::f32),
        weight_hh_(weight_hh),
        bias_hh_(bias_hh),
        weight_hr_(weight_hr),
        lengths_(start.lengths),
        hidden_(state_of(start.hidden, weight_hr.size(0))),
        cell_(state_of(start.cell, weight_hr.size(1))) {}

  RecurrentResult run(bool reverse) {
    const std::int64_t steps = unstacked_shape(x_)[1];
    std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t n = 0; n < steps; ++n) {
      const std::int64_t t = reverse ? steps - 1 - n : n;
      outputs[static_cast<std::size_t>(t)] = step(t);
    }
    const std::vector<TensorRef> pieces(outputs.begin(), outputs.end());
    return {cast(stack(pieces, 1), x_.dtype()), hidden_, cell_};
  }

 private:
  [[nodiscard]] Tensor state_of(const Tensor& first, std::int64_t size) const {
    return first.defined() ? cast(first, state_dtype_)
                           : zero_state(select(x_, 1, 0), size, state_dtype_);
  }

  /// Moves the states of the sequences that take step `t` on; gives the output there.
  Tensor step(std::int64_t t) {
    const Tensor of_hidden = linear(cast(hidden_, x_.dtype()), weight_hh_, bias_hh_);
    const Tensor sum = cast(select(x_, 1, t), state_dtype_) + cast(of_hidden, state_dtype_);
    const auto gate = split(sum, weight_hr_.size(1), -1);
    const Tensor cell = sigmoid(gate[1]) * cell_ + sigmoid(gate[0]) * tanh(gate[2]);
    const Tensor open = sigmoid(gate[3]) * tanh(cell);
    const Tensor hidden = cast(linear(cast(open, x_.dtype()), weight_hr_), state_dtype_);
    if (!lengths_.defined()) {
      hidden_ = hidden;
      cell_ = cell;
      return hidden;
    }
    const Tensor taken = unsqueeze(lengths_ > t, 1);
    hidden_ = where(taken, hidden, hidden_);
    cell_ = where(taken, cell, cell_);
    return where(taken, hidden, 0.0);
  }

  const Tensor& x_;
  DType state_dtype_;
  const Tensor &weight_hh_, &bias_hh_, &weight_hr_;
  const Tensor& lengths_;
  Tensor hidden_, cell_;
};

}  // namespace

RecurrentResult projected_lstm(const Tensor& x, const Tensor& weight_hh, const Tensor& bias_hh,
                               const Tensor& weight_hr, const RecurrentStart& start, bool reverse) {
  const Shape shape = unstacked_shape(x);
  check_lengths(start.lengths, shape[0], shape[1]);
  return ProjectedLstm(x, weight_hh, bias_hh, weight_hr, start).run(reverse);
}

}  // namespace tessera::nn
