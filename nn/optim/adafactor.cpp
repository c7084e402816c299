#include <tessera/nn/optim/adafactor.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/whole_parameter.h>

namespace tessera::optim {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double eps_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-52;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

/// Root mean square, in f64, where `x` is: nobody waits for it.
Tensor size_of_elements(const Tensor& x) {
  return sqrt(cast(mean(x * x), DType::f64));
}

/// Moves the kept means towards the squares of `gradient`; gives the mean square of each element,
/// formed of those of its row and column.
Tensor mean_squares(const StepTensors& p, const Tensor& gradient, double weight, double eps1) {
  const Tensor squares = gradient * gradient;
  if (squares.ndim() < 2) {
    return move_mean(p.states[0], squares, weight);
  }
  const Tensor rows = move_mean(p.states[0], mean(squares, {-1}, true), weight);
  const Tensor columns = move_mean(p.states[1], mean(squares, {-2}, true), weight);
  return rows * columns / clamp(mean(rows, {-2}, true), eps1, kNoLimit);
}

void update_one(const StepTensors& p, const AdafactorOptions& o, double step, double scale) {
  const Tensor parameter = widened(p.parameter);
  const Tensor gradient = widened(p.gradient) * scale;
  const double eps1 = o.eps1 == kEpsOfDType ? eps_of(p.parameter.dtype()) : o.eps1;
  const double relative = std::min(o.lr, 1 / std::sqrt(step));
  const Tensor rate = clamp(size_of_elements(parameter), o.eps2, kNoLimit) * relative;
  const Tensor squares = mean_squares(p, gradient, std::pow(step, o.beta2_decay), eps1);
  const Tensor update = rsqrt(clamp(squares, eps1 * eps1, kNoLimit)) * gradient;
  const Tensor excess = clamp(size_of_elements(update) / o.d, 1, kNoLimit);
  const Tensor factor = cast(rate / excess, update.dtype());
  put(p.parameter, parameter * (1 - o.lr * o.weight_decay) - update * factor);
}

}  // namespace

void AdafactorOptions::validate() const {
  require_not_negative("Adafactor", "lr", lr);
  check<ValueError>(beta2_decay <= 0, "Adafactor: beta2_decay out of range; got ", beta2_decay,
                    ", expected 0 or less");
  check<ValueError>(eps1 >= 0 || eps1 == kEpsOfDType, "Adafactor: eps1 out of range; got ", eps1,
                    ", expected 0 or more, or kEpsOfDType");
  require_not_negative("Adafactor", "eps2", eps2);
  check<ValueError>(d >= 1, "Adafactor: d out of range; got ", d, ", expected 1 or more");
  require_not_negative("Adafactor", "weight_decay", weight_decay);
}

auto Adafactor::state_kinds(std::size_t /*group*/, const Shape& shape) const -> StateKinds {
  if (shape.size() < 2) {
    return {{"variance", shape}};
  }
  Shape rows = shape;
  Shape columns = shape;
  rows[shape.size() - 1] = 1;
  columns[shape.size() - 2] = 1;
  return {{"row_var", rows}, {"col_var", columns}};
}

void Adafactor::update(std::size_t group, std::int64_t step,
                       std::span<const StepTensors> parameters, double scale) {
  const AdafactorOptions& o = options(group);
  for (const StepTensors& p : parameters) {
    update_one(p, o, static_cast<double>(step), o.maximize ? -scale : scale);
  }
}

}  // namespace tessera::optim
