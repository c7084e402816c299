#include <tessera/core/ops/sign.h>

#include <cmath>

#include <tessera/core/autograd/vjp.h>

namespace tessera {

void Sign::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](Real auto x) {
    return std::isnan(static_cast<double>(x)) ? x : decltype(x)((x > 0) - (x < 0));
  });
}

void Sign::vjp(Vjp& v, const Attrs&) {
  static_cast<void>(v);  // zero wherever it exists
}

Tensor sign(const Tensor& x) {
  return call<Sign>({x});
}

namespace {
const Register<Sign> registered;
}

}  // namespace tessera
