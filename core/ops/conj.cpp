#include <tessera/core/ops/conj.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

void Conj::infer(Infer& c, const Attrs&) {
  infer_elementwise(c, 1, c.input().dtype());
}

void Conj::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) {
    if constexpr (std::is_same_v<decltype(x), std::complex<double>>) {
      return std::conj(x);
    } else {
      return x;
    }
  });
}

void Conj::vjp(Vjp& v, const Attrs&) {
  v.set(0, conj(v.gradient()));
}

Tensor conj(const Tensor& x) {
  return is_complex(x.dtype()) ? call<Conj>({x}) : x;
}

const Register<Conj> register_conj;

}  // namespace tessera
