#include <tessera/core/ops/log.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/div.h>

namespace tessera {

void Log::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::log(x); });
}

void Log::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient() / conj(v.input()));
}

Tensor log(const Tensor& x) {
  return call<Log>({x});
}

const Register<Log> register_log;

}  // namespace tessera
