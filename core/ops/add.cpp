#include <tessera/core/ops/add.h>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

void Add::infer(Infer& c, const Attrs&) {
  infer_elementwise(c, promoted_dtype(c));
}

void Add::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) { return x + y; });
}

void Add::vjp(Vjp& v, const Attrs&) {
  for (int i = 0; i < 2; ++i) {
    if (v.needs(i)) {
      v.set(i, gradient_like(v.gradient(), v.input_meta(i), v.destination(i)));
    }
  }
}

ShardRule Add::shard(const Infer& c, const Attrs&) {
  return elementwise_rule(c);
}

Tensor operator+(const Tensor& x, const Tensor& y) {
  return call<Add>({x, y});
}
Tensor operator+(const Tensor& x, double y) {
  return x + scalar(y, {.dtype = DType::f64});
}
Tensor operator+(double x, const Tensor& y) {
  return scalar(x, {.dtype = DType::f64}) + y;
}
const Tensor& add_(const Tensor& x, const Tensor& y) {
  return call_in_place<Add>(x, {x, y});
}

namespace {
const Register<Add> registered;
}

}  // namespace tessera
