#include <tessera/core/ops/argmax.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Argmax::infer(Infer& c, const Attrs& attrs) {
  infer_position(c, attrs);
}

void Argmax::reference(Kernel& k, const Attrs& attrs) {
  reference_position(k, attrs, true);
}

// Positions count inside the piece, so only dims that stay can be cut.
ShardRule Argmax::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor argmax(const Tensor& x, int dim, bool keepdim) {
  return call<Argmax>({x}, {.dims = {dim}, .keepdim = keepdim});
}
Tensor argmax(const Tensor& x) {
  return call<Argmax>({x});
}

const Register<Argmax> register_argmax;

}  // namespace tessera
