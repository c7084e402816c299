#include <tessera/core/ops/sign.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

void Sign::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](Real auto x) { return decltype(x)((x > 0) - (x < 0)); });
}

void Sign::vjp(Vjp& v, const Attrs&) {
  static_cast<void>(v);  // zero wherever it exists
}

Tensor sign(const Tensor& x) {
  return call<Sign>({x});
}

const Register<Sign> register_sign;

}  // namespace tessera
