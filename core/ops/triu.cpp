#include <tessera/core/ops/triu.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

void Triu::reference(Kernel& k, const Attrs& attrs) {
  keep_triangle(k, [&](std::int64_t above) { return above >= attrs.diagonal; });
}

void Triu::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, triu(v.gradient(), attrs.diagonal));
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  return call<Triu>({x}, {diagonal});
}

const Register<Triu> register_triu;

}  // namespace tessera
