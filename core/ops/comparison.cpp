#include <tessera/core/ops/comparison.h>

namespace tessera {
namespace {

/// Only its category counts: elements are compared as int64, double or complex.
DType common_category(const Kernel& k) {
  return promote(k.input(0).dtype, k.input(1).dtype);
}

template <class F>
void compare(Kernel& k, const F& f) {
  map_elements<2>(k, common_category(k), [&](auto x, auto y) { return std::int64_t{f(x, y)}; });
}

/// Without complex numbers, which have no order.
template <class F>
void compare_order(Kernel& k, const F& f) {
  map_elements<2>(k, common_category(k),
                  [&](Real auto x, Real auto y) { return std::int64_t{f(x, y)}; });
}

}  // namespace

void Eq::reference(Kernel& k, const Attrs&) {
  compare(k, [](auto x, auto y) { return x == y; });
}
void Ne::reference(Kernel& k, const Attrs&) {
  compare(k, [](auto x, auto y) { return x != y; });
}
void Lt::reference(Kernel& k, const Attrs&) {
  compare_order(k, [](auto x, auto y) { return x < y; });
}
void Le::reference(Kernel& k, const Attrs&) {
  compare_order(k, [](auto x, auto y) { return x <= y; });
}
void Gt::reference(Kernel& k, const Attrs&) {
  compare_order(k, [](auto x, auto y) { return x > y; });
}
void Ge::reference(Kernel& k, const Attrs&) {
  compare_order(k, [](auto x, auto y) { return x >= y; });
}

Tensor eq(const Tensor& x, const Tensor& y) {
  return call<Eq>({x, y});
}
Tensor eq(const Tensor& x, Number y) {
  return call<Eq>({x, y.tensor()});
}
Tensor ne(const Tensor& x, const Tensor& y) {
  return call<Ne>({x, y});
}
Tensor ne(const Tensor& x, Number y) {
  return call<Ne>({x, y.tensor()});
}
Tensor operator<(const Tensor& x, const Tensor& y) {
  return call<Lt>({x, y});
}
Tensor operator<(const Tensor& x, Number y) {
  return call<Lt>({x, y.tensor()});
}
Tensor operator<=(const Tensor& x, const Tensor& y) {
  return call<Le>({x, y});
}
Tensor operator<=(const Tensor& x, Number y) {
  return call<Le>({x, y.tensor()});
}
Tensor operator>(const Tensor& x, const Tensor& y) {
  return call<Gt>({x, y});
}
Tensor operator>(const Tensor& x, Number y) {
  return call<Gt>({x, y.tensor()});
}
Tensor operator>=(const Tensor& x, const Tensor& y) {
  return call<Ge>({x, y});
}
Tensor operator>=(const Tensor& x, Number y) {
  return call<Ge>({x, y.tensor()});
}

namespace {
const Register<Eq> registered_eq;
const Register<Ne> registered_ne;
const Register<Lt> registered_lt;
const Register<Le> registered_le;
const Register<Gt> registered_gt;
const Register<Ge> registered_ge;
}  // namespace

}  // namespace tessera
