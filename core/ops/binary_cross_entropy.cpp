#include <tessera/core/ops/binary_cross_entropy.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {
namespace {

constexpr double kLeastLog = -100;
constexpr double kLeastVariance = 1e-12;  // x (1 - x) in the gradient, as in PyTorch

void check_probability(const char* what, double value) {
  check(value >= 0 && value <= 1, "binary_cross_entropy: ", what, " is no probability; got ", value,
        ", expected one in [0, 1]");
}

}  // namespace

void BinaryCrossEntropy::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](std::floating_point auto x, std::floating_point auto t) {
    check_probability("an input", x);
    check_probability("a target", t);
    return (t - 1) * std::max(std::log1p(-x), kLeastLog) - t * std::max(std::log(x), kLeastLog);
  });
}

void BinaryCrossEntropy::vjp(Vjp& v, const Attrs&) {
  const Tensor g = v.gradient();
  const Tensor x = v.input(0);
  const Tensor t = v.input(1);
  if (v.needs(0)) {
    const Tensor variance =
        clamp(x * (1 - x), kLeastVariance, std::numeric_limits<double>::infinity());
    v.set(0, gradient_like(g * ((x - t) / variance), v.input_meta(0)));
  }
  if (v.needs(1)) {
    const Tensor odds = clamp(log(1 - x), kLeastLog, 0) - clamp(log(x), kLeastLog, 0);
    v.set(1, gradient_like(g * odds, v.input_meta(1)));
  }
}

const Register<BinaryCrossEntropy> register_binary_cross_entropy;

}  // namespace tessera
