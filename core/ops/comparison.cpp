#include <tessera/core/ops/comparison.h>

namespace tessera {
namespace {

/// What 16-bit floats hold of x; wider ones are rounded already.
template <class C>
C rounded(C x, DType dtype) {
  if constexpr (std::same_as<C, double>) {
    if (dtype == DType::bf16) {
      return convert<C>(convert<BFloat16>(x));
    }
    return dtype == DType::f16 ? convert<C>(convert<Float16>(x)) : x;
  } else {
    return x;
  }
}

/// Operands are rounded to their common dtype, so that f32 0.3 equals the number 0.3.
template <class F>
void compare(Kernel& k, const F& f) {
  const DType common = promoted_dtype(k);
  map_elements<2>(k, common, [&](auto x, auto y) {
    return std::int64_t{f(rounded(x, common), rounded(y, common))};
  });
}

/// Calls `f` for every dtype but complex ones, which have no order.
template <class F>
void compare_order(Kernel& k, const F& f) {
  const DType common = promoted_dtype(k);
  map_elements<2>(k, common, [&](Real auto x, Real auto y) {
    return std::int64_t{f(rounded(x, common), rounded(y, common))};
  });
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

const Register<Eq> register_eq;
const Register<Ne> register_ne;
const Register<Lt> register_lt;
const Register<Le> register_le;
const Register<Gt> register_gt;
const Register<Ge> register_ge;

}  // namespace tessera
