#include <tessera/core/ops/layer_norm.h>

namespace tessera {

void LayerNorm::infer(Infer& c, const Attrs& attrs) {
  infer_norm(c, attrs, true);
}

void LayerNorm::reference(Kernel& k, const Attrs& attrs) {
  reference_norm(k, attrs, true);
}

void LayerNorm::vjp(Vjp& v, const Attrs&) {
  norm_vjp<LayerNormBackward>(v, v.output(1), v.output(2));
}

ShardRule LayerNorm::shard(const Infer& c, const Attrs&) {
  return norm_rule(c);
}

void LayerNormBackward::infer(Infer& c, const Attrs& attrs) {
  infer_norm_backward(c, attrs, true);
}

void LayerNormBackward::reference(Kernel& k, const Attrs& attrs) {
  reference_norm_backward(k, attrs, true);
}

void LayerNormBackward::vjp(Vjp& v, const Attrs& attrs) {
  norm_backward_vjp<LayerNormBackward>(v, attrs, true);
}

ShardRule LayerNormBackward::shard(const Infer& c, const Attrs&) {
  return norm_backward_rule(c);
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return call_all<LayerNorm>({x, weight, bias}, {epsilon, norm_dtype(x)})[0];
}

const Register<LayerNorm> register_layer_norm;
const Register<LayerNormBackward> register_layer_norm_backward;

}  // namespace tessera
