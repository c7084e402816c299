#include <tessera/core/ops/argmin.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Argmin::infer(Infer& c, const Attrs& attrs) {
  infer_position(c, attrs);
}

void Argmin::reference(Kernel& k, const Attrs& attrs) {
  reference_position(k, attrs, false);
}

// Positions count inside the piece, so only dims that stay can be cut.
ShardRule Argmin::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor argmin(const Tensor& x, int dim, bool keepdim) {
  return call<Argmin>({x}, {.dims = {dim}, .keepdim = keepdim});
}
Tensor argmin(const Tensor& x) {
  return call<Argmin>({x});
}

const Register<Argmin> register_argmin;

}  // namespace tessera
