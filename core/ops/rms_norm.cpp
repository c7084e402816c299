#include <tessera/core/ops/rms_norm.h>

namespace tessera {

void RmsNorm::vjp(Vjp& v, const Attrs&) {
  norm_vjp<RmsNormBackward>(v, v.output(1), Tensor());
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  return call_all<RmsNorm>({x, weight}, {epsilon, norm_dtype(x)})[0];
}

const Register<RmsNorm> register_rms_norm;
const Register<RmsNormBackward> register_rms_norm_backward;

}  // namespace tessera
