#include <tessera/core/ops/argmin.h>

namespace tessera {

void Argmin::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check(!is_complex(dtype) && dtype != DType::boolean, "argmin: needs real numbers; got ", dtype);
  infer_reduction(c, attrs, DType::i64);
  check_not_empty(c);
}

void Argmin::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<Real T>(std::span<const T> values) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < values.size() && values[best] == values[best]; ++i) {
      best = values[i] != values[i] || values[i] < values[best] ? i : best;
    }
    return static_cast<std::int64_t>(best);
  });
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

namespace {
const Register<Argmin> registered;
}

}  // namespace tessera
