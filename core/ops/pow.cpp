#include <tessera/core/ops/pow.h>

#include <cmath>
#include <type_traits>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/log.h>
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

}  // namespace

void Pow::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) {
    if constexpr (std::is_same_v<decltype(x), std::int64_t>) {
      return integer_power(x, y);
    } else {
      return std::pow(x, y);
    }
  });
}

void Pow::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input(0);
  const Tensor y = v.input(1);
  if (v.needs(0)) {
    const Tensor slope = where(eq(y, 0), 0, y * pow(x, y - 1));
    v.set(0, gradient_like(v.gradient() * conj(slope), v.input_meta(0)));
  }
  if (v.needs(1)) {
    const Tensor slope = where(eq(x, 0), 0, v.output() * log(x));  // flat at 0, for y > 0
    v.set(1, gradient_like(v.gradient() * conj(slope), v.input_meta(1)));
  }
}

Tensor pow(const Tensor& x, const Tensor& y) {
  return call<Pow>({x, y});
}
Tensor pow(const Tensor& x, Number y) {
  return call<Pow>({x, y.tensor()});
}
Tensor pow(Number x, const Tensor& y) {
  return call<Pow>({x.tensor(), y});
}

namespace {
const Register<Pow> register_pow;
}

}  // namespace tessera
