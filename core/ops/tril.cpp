#include <tessera/core/ops/tril.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/triangle.h>

namespace tessera {

void Tril::infer(Infer& c, const Attrs&) {
  infer_triangle(c);
}

void Tril::reference(Kernel& k, const Attrs& attrs) {
  keep_triangle(k, [&](std::int64_t above) { return above <= attrs.diagonal; });
}

void Tril::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, tril(v.gradient(), attrs.diagonal));
}

ShardRule Tril::shard(const Infer& c, const Attrs&) {
  return triangle_rule(c);
}

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  return call<Tril>({x}, {diagonal});
}

const Register<Tril> register_tril;

}  // namespace tessera
