#include <tessera/core/ops/pow.h>

#include <cmath>
#include <type_traits>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

std::int64_t integer_power(std::int64_t x, std::int64_t y) {
  if (y < 0) {
    const std::int64_t odd = y % 2 == 0 ? 1 : x;
    return x == 1 || x == -1 ? odd : 0;
  }
  std::uint64_t result = 1;  // unsigned: overflow wraps around
  auto factor = static_cast<std::uint64_t>(x);
  for (; y > 0; y /= 2, factor *= factor) {
    result *= y % 2 == 1 ? factor : 1;
  }
  return static_cast<std::int64_t>(result);
}

/// y - 1 with all the digits of y: two numbers alone would take part in f32.
Tensor less_one(const Tensor& y) {
  const bool number = y.get().number;
  Tensor result = cast(y, y.dtype(), number) - 1;
  result.get().number = number;
  return result;
}

/// The logarithm of a base, in the dtype of its power or a wider one: a number has no width.
Tensor log_of_base(const Tensor& x, DType power) {
  const bool number = x.get().number;
  const bool widthless = number || is_integral(x.dtype());
  return log(cast(x, promote(power, widthless ? DType::f32 : x.dtype()), number));
}

/// Where 0^y does not depend on y.
Tensor is_flat(const Tensor& x, const Tensor& y) {
  return is_complex(y.dtype()) ? eq(x, 0) : logical_and(eq(x, 0), y >= 0);
}

}  // namespace

void Pow::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) {
    if constexpr (std::is_same_v<decltype(x), std::int64_t>) {
      return integer_power(x, y);
    } else {
      using T = decltype(x);  // std::pow of complex zeros is nan
      return x == T(0) && y == T(0) ? T(1) : std::pow(x, y);
    }
  });
}

void Pow::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input(0);
  const Tensor y = v.input(1);
  if (v.needs(0)) {
    // 0 by 0, in the slope's own gradient, too: x^-1 would make that nan.
    const Tensor slope = y * pow(where(eq(y, 0), 1, x), less_one(y));
    v.set(0, gradient_like(v.gradient() * conj(slope), v.input_meta(0)));
  }
  if (v.needs(1)) {
    const Tensor output = v.output();
    const Tensor slope = where(is_flat(x, y), 0, output * log_of_base(x, output.dtype()));
    v.set(1, gradient_like(v.gradient() * conj(slope), v.input_meta(1)));
  }
}

Tensor pow(const Tensor& x, const Tensor& y) {
  return call<Pow>({x, y});
}
Tensor pow(const Tensor& x, Number y) {
  return call<Pow>({x, y.tensor_beside(x.dtype(), "pow")});
}
Tensor pow(Number x, const Tensor& y) {
  return call<Pow>({x.tensor(), y});
}

const Register<Pow> register_pow;

}  // namespace tessera
