#include <tessera/core/ops/layer_norm.h>

namespace tessera {

void LayerNorm::vjp(Vjp& v, const Attrs&) {
  norm_vjp<LayerNormBackward>(v, v.output(1), v.output(2));
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return call_all<LayerNorm>({x, weight, bias}, {epsilon, norm_dtype(x)})[0];
}

const Register<LayerNorm> register_layer_norm;
const Register<LayerNormBackward> register_layer_norm_backward;

}  // namespace tessera
