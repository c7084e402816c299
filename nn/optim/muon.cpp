#include <tessera/nn/optim/muon.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/whole_parameter.h>

namespace tessera::optim {
namespace {

/// `x` with all singular values moved near 1. The smaller of x x^T and x^T x is formed.
Tensor orthogonalized(const Tensor& x, const MuonOptions& o) {
  const bool tall = x.shape()[0] > x.shape()[1];
  const auto& [a, b, c] = o.ns_coefficients;
  Tensor y = x / clamp(norm(x), o.eps, std::numeric_limits<double>::infinity());
  for (int i = 0; i < o.ns_steps; ++i) {
    const Tensor gram = matmul(y, y, tall, !tall);
    const Tensor factor = gram * b + matmul(gram, gram) * c;
    y = y * a + (tall ? matmul(y, factor) : matmul(factor, y));
  }
  return y;
}

double adjusted_lr(const MuonOptions& o, const Shape& shape) {
  const auto rows = static_cast<double>(shape[0]);
  const auto columns = static_cast<double>(shape[1]);
  switch (o.adjust_lr_fn) {
    case AdjustLr::match_rms_adamw:
      return o.lr * 0.2 * std::sqrt(std::max(rows, columns));
    case AdjustLr::spectral_unclamped:
      return o.lr * std::sqrt(rows / columns);
    case AdjustLr::original:
      break;
  }
  return o.lr * std::sqrt(std::max(1.0, rows / columns));
}

void update_one(const StepTensors& p, const MuonOptions& o, double scale) {
  const Tensor gradient = widened(p.gradient) * scale;
  const Tensor mean = move_mean(p.states[0], gradient, 1 - o.momentum);
  const Tensor ahead = o.nesterov ? gradient * (1 - o.momentum) + mean * o.momentum : mean;
  const Tensor step = orthogonalized(ahead, o) * adjusted_lr(o, p.parameter.shape());
  put(p.parameter, widened(p.parameter) * (1 - o.lr * o.weight_decay) - step);
}

}  // namespace

void MuonOptions::validate() const {
  require_not_negative("Muon", "lr", lr);
  require_not_negative("Muon", "weight_decay", weight_decay);
  require_not_negative("Muon", "momentum", momentum);
  require_not_negative("Muon", "eps", eps);
  check<ValueError>(ns_steps >= 0 && ns_steps < 100, "Muon: ns_steps out of range; got ", ns_steps,
                    ", expected [0, 100)");
  check<ValueError>(adjust_lr_fn <= AdjustLr::spectral_unclamped,
                    "Muon: no such adjust_lr_fn; got ", static_cast<int>(adjust_lr_fn));
}

Muon::Muon(const std::vector<nn::Parameter>& parameters, const MuonOptions& options) {
  add_first_group(parameters, options);
}

void Muon::check_parameter(const nn::Slot& slot) const {
  check<ValueError>(slot.shape.size() == 2, "Muon: takes parameters of two dims; got ", slot.name,
                    " of shape ", slot.shape);
}

auto Muon::state_kinds(std::size_t /*group*/, const Shape& shape) const -> StateKinds {
  return {{"momentum_buffer", shape}};
}

void Muon::update(std::size_t group, std::int64_t /*step*/, std::span<const StepTensors> parameters,
                  double scale) {
  const AutocastScope exact(DType::f32);
  for (const StepTensors& p : parameters) {
    update_one(p, options(group), scale);
  }
}

}  // namespace tessera::optim
