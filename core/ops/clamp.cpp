#include <tessera/core/ops/clamp.h>

#include <concepts>
#include <limits>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

/// A bound in the type of x: integers are compared as such.
template <class C>
struct Bound {
  explicit Bound(const Number& n) : number(n) {}
  [[nodiscard]] C value() const {
    return number.is_integer() ? C(number.integer()) : C(number.real());
  }
  [[nodiscard]] bool is_above(C x) const {
    return number.is_integer() ? x < value() : as_real(x) < number.real();
  }
  [[nodiscard]] bool is_below(C x) const {
    return number.is_integer() ? x > value() : as_real(x) > number.real();
  }
  [[nodiscard]] static double as_real(C x) { return static_cast<double>(x); }

  const Number& number;
};

bool is_in_order(const Number& low, const Number& high) {
  return low.is_integer() && high.is_integer() ? low.integer() <= high.integer()
                                               : low.real() <= high.real();
}

/// Throws ValueError where all elements would become a bound that an integer dtype cannot hold.
void check_reachable(const Number& low, const Number& high, DType dtype) {
  const bool reachable = visit_dtype(dtype, [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      return low.real() <= static_cast<double>(Limits::max()) &&
             high.real() >= static_cast<double>(Limits::min());
    }
    return true;
  });
  check<ValueError>(reachable, "clamp: the range lies outside of the dtype; got ", low.real(),
                    " to ", high.real(), ", expected one with numbers that ", dtype, " holds");
}

}  // namespace

void Clamp::infer(Infer& c, const Attrs& attrs) {
  check(is_in_order(attrs.low, attrs.high), "clamp: empty range; got ", attrs.low.real(), " to ",
        attrs.high.real(), ", expected the lower bound first");
  check_real("clamp", "x", c.input().dtype());
  check_reachable(attrs.low, attrs.high, c.input().dtype());
  infer_elementwise(c, 1, c.input().dtype());
}

void Clamp::reference(Kernel& k, const Attrs& attrs) {
  map_elements<1>(k, k.output().dtype, [&](Real auto x) {
    const Bound<decltype(x)> low(attrs.low), high(attrs.high);
    return low.is_above(x) ? low.value() : high.is_below(x) ? high.value() : x;
  });
}

void Clamp::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor x = v.input();
  const Tensor inside = logical_and(x > attrs.low, x < attrs.high);
  v.set(0, where(inside, v.gradient(), 0));
}

Tensor clamp(const Tensor& x, Number low, Number high) {
  return call<Clamp>({x}, {low, high});
}
const Tensor& clamp_(const Tensor& x, Number low, Number high) {
  return call_in_place<Clamp>(x, {x}, {low, high});
}

const Register<Clamp> register_clamp;

}  // namespace tessera
