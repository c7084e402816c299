#include <tessera/core/ops/mish.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/softplus.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/tanh.h>

namespace tessera {

void Mish::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](std::floating_point auto x) {
    return x * std::tanh(std::log1p(std::exp(x)));
  });
}

void Mish::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input();
  const Tensor t = tanh(softplus(x));
  v.set(0, v.gradient() * (t + x * sigmoid(x) * (1 - t * t)));
}

Tensor mish(const Tensor& x) {
  return call<Mish>({x});
}
const Tensor& mish_(const Tensor& x) {
  return call_in_place<Mish>(x, {x});
}

const Register<Mish> register_mish;

}  // namespace tessera
