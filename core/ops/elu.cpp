#include <tessera/core/ops/elu.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

constexpr Elu::Attrs kSelu{.alpha = 1.6732632423543772, .scale = 1.0507009873554805};

Elu::Attrs celu_attrs(double alpha) {
  check<ValueError>(alpha != 0, "celu: wrong alpha; got 0, expected another number");
  return {.alpha = alpha, .input_scale = 1 / alpha};
}

}  // namespace

void Elu::reference(Kernel& k, const Attrs& attrs) {
  map_elements<1>(k, k.output().dtype, [&](std::floating_point auto x) {
    return attrs.scale * (x > 0 ? x : attrs.alpha * std::expm1(attrs.input_scale * x));
  });
}

void Elu::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor x = v.input();
  const Tensor below = where(x >= 0, 0, x);  // at 0, too, its own gradient is 0
  const Tensor power = exp(below * attrs.input_scale);
  const Tensor left = power * (attrs.alpha * attrs.scale * attrs.input_scale);
  v.set(0, v.gradient() * where(x > 0, attrs.scale, left));
}

Tensor elu(const Tensor& x, double alpha) {
  return call<Elu>({x}, {.alpha = alpha});
}
const Tensor& elu_(const Tensor& x, double alpha) {
  return call_in_place<Elu>(x, {x}, {.alpha = alpha});
}

Tensor selu(const Tensor& x) {
  return call<Elu>({x}, kSelu);
}
const Tensor& selu_(const Tensor& x) {
  return call_in_place<Elu>(x, {x}, kSelu);
}

Tensor celu(const Tensor& x, double alpha) {
  return call<Elu>({x}, celu_attrs(alpha));
}
const Tensor& celu_(const Tensor& x, double alpha) {
  return call_in_place<Elu>(x, {x}, celu_attrs(alpha));
}

const Register<Elu> register_elu;

}  // namespace tessera
