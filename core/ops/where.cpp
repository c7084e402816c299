#include <tessera/core/ops/where.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

void Where::infer(Infer& c, const Attrs& attrs) {
  check_dtype(c.input(0).dtype() == DType::boolean, "where", "condition", c.input(0).dtype(),
              "bool");
  Elementwise<3>::infer(c, attrs);  // a bool never decides a promotion
}

void Where::reference(Kernel& k, const Attrs&) {
  map_elements<3>(k, k.output().dtype, [](auto condition, auto x, auto y) {
    return condition != decltype(condition)(0) ? x : y;
  });
}

void Where::vjp(Vjp& v, const Attrs&) {
  const Tensor condition = v.input(0);
  v.set(1, [&] { return gradient_like(where(condition, v.gradient(), 0), v.input_meta(1)); });
  v.set(2, [&] { return gradient_like(where(condition, 0, v.gradient()), v.input_meta(2)); });
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return call<Where>({condition, x, y});
}
Tensor where(const Tensor& condition, const Tensor& x, Number y) {
  return call<Where>({condition, x, y.tensor_beside(x.dtype(), "where")});
}
Tensor where(const Tensor& condition, Number x, const Tensor& y) {
  return call<Where>({condition, x.tensor_beside(y.dtype(), "where"), y});
}

const Register<Where> register_where;

}  // namespace tessera
