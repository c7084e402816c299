#include <tessera/core/ops/isfinite.h>

#include <cmath>
#include <complex>

namespace tessera {

void Isfinite::reference(Kernel& k, const Attrs&) {
  const auto finite = [](auto x) { return std::int64_t{std::isfinite(x)}; };
  map_elements<1>(k, k.input().dtype, [&](auto x) {
    if constexpr (std::is_same_v<decltype(x), std::complex<double>>) {
      return finite(x.real()) & finite(x.imag());
    } else {
      return finite(static_cast<double>(x));
    }
  });
}

Tensor isfinite(const Tensor& x) {
  return call<Isfinite>({x});
}

const Register<Isfinite> register_isfinite;

}  // namespace tessera
