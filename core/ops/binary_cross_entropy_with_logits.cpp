#include <tessera/core/ops/binary_cross_entropy_with_logits.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/number.h>

namespace tessera {
namespace {

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// The loss of a positive example: softplus(-x).
Tensor positive_loss(const Tensor& x) {
  return call<BinaryCrossEntropyWithLogits>({x, Number(1).tensor()});
}

}  // namespace

void BinaryCrossEntropyWithLogits::infer(Infer& c, const Attrs&) {
  check_real(c);
  infer_elementwise(c, c.has_input(2) ? 3 : 2, promoted_float_dtype(c));
}

void BinaryCrossEntropyWithLogits::reference(Kernel& k, const Attrs&) {
  const auto loss = [](std::floating_point auto x, std::floating_point auto t,
                       std::floating_point auto weight) {
    return weight * t * softplus(-x) + (1 - t) * softplus(x);
  };
  if (k.has_input(2)) {
    map_elements<3>(k, k.output().dtype, loss);
  } else {
    map_elements<2>(
        k, k.output().dtype,
        [&](std::floating_point auto x, std::floating_point auto t) { return loss(x, t, 1.0); });
  }
}

void BinaryCrossEntropyWithLogits::vjp(Vjp& v, const Attrs&) {
  const Tensor g = v.gradient();
  const Tensor x = v.input(0);
  const Tensor t = v.input(1);
  const bool weighted = v.has_input(2);
  if (v.needs(0)) {
    const Tensor positive = weighted ? t * v.input(2) : t;
    const Tensor slope = (1 - t) * sigmoid(x) - positive * sigmoid(-x);
    v.set(0, gradient_like(g * slope, v.input_meta(0)));
  }
  if (v.needs(1)) {
    const Tensor slope = weighted ? (v.input(2) - 1) * positive_loss(x) - x : -x;
    v.set(1, gradient_like(g * slope, v.input_meta(1)));
  }
  if (weighted && v.needs(2)) {
    v.set(2, gradient_like(g * t * positive_loss(x), v.input_meta(2)));
  }
}

const Register<BinaryCrossEntropyWithLogits> register_binary_cross_entropy_with_logits;

}  // namespace tessera
