#include <tessera/core/ops/tril.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

void Tril::reference(Kernel& k, const Attrs& attrs) {
  keep_triangle(k, [&](std::int64_t above) { return above <= attrs.diagonal; });
}

void Tril::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, tril(v.gradient(), attrs.diagonal));
}

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  return call<Tril>({x}, {diagonal});
}

const Register<Tril> register_tril;

}  // namespace tessera
