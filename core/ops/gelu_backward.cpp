#include <tessera/core/ops/gelu_backward.h>

#include <algorithm>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/gelu.h>
#include <tessera/core/ops/tanh.h>

namespace tessera {
namespace {

constexpr auto kCubic = static_cast<double>(kGeluCubic);
constexpr auto kScale = static_cast<double>(kRoot2OverPi);

long double derivative(long double x_in, bool tanh_form) {
  const long double x = std::max(std::min(x_in, 1e3L), -1e3L);  // 0 and 1 beyond, infinities too
  const long double gate = gelu_gate(x, tanh_form);
  if (tanh_form) {
    const long double slope = kRoot2OverPi * (1 + 3 * kGeluCubic * x * x);
    return gate + 2 * x * gate * (1 - gate) * slope;
  }
  return gate + x * std::exp(-x * x / 2) * kRoot2OverPi / 2;
}

Tensor second_derivative(const Tensor& x, bool tanh_form) {
  const Tensor square = x * x;
  if (!tanh_form) {
    return exp(square * -0.5) * (2 - square) * (kScale / 2);
  }
  const Tensor t = tanh((x + square * x * kCubic) * kScale);
  const Tensor slope = (1 + square * (3 * kCubic)) * kScale;  // of the argument of tanh
  const Tensor bell = 1 - t * t;
  return bell * (slope + x * (kScale * 3 * kCubic) * x - x * t * slope * slope);
}

}  // namespace

void GeluBackward::reference(Kernel& k, const Attrs& attrs) {
  map_elements<2>(k, k.output().dtype, [&](std::floating_point auto g, std::floating_point auto x) {
    return static_cast<double>(g * derivative(x, attrs.tanh_form));
  });
}

void GeluBackward::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor x = v.input(1);
  if (v.needs(0)) {
    v.set(0, gradient_like(gelu_backward(v.gradient(), x, attrs.tanh_form), v.input_meta(0)));
  }
  if (v.needs(1)) {
    const Tensor curvature = second_derivative(x, attrs.tanh_form);
    v.set(1, gradient_like(v.gradient() * v.input(0) * curvature, v.input_meta(1)));
  }
}

Tensor gelu_backward(const Tensor& g, const Tensor& x, bool tanh_form) {
  return call<GeluBackward>({g, x}, {tanh_form});
}

const Register<GeluBackward> register_gelu_gradient;

}  // namespace tessera
