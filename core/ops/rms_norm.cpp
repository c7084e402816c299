#include <tessera/core/ops/rms_norm.h>

namespace tessera {

void RmsNorm::infer(Infer& c, const Attrs& attrs) {
  infer_norm(c, attrs, false);
}

void RmsNorm::reference(Kernel& k, const Attrs& attrs) {
  reference_norm(k, attrs, false);
}

void RmsNorm::vjp(Vjp& v, const Attrs&) {
  norm_vjp<RmsNormBackward>(v, v.output(1), Tensor());
}

ShardRule RmsNorm::shard(const Infer& c, const Attrs&) {
  return norm_rule(c);
}

void RmsNormBackward::infer(Infer& c, const Attrs& attrs) {
  infer_norm_backward(c, attrs, false);
}

void RmsNormBackward::reference(Kernel& k, const Attrs& attrs) {
  reference_norm_backward(k, attrs, false);
}

void RmsNormBackward::vjp(Vjp& v, const Attrs& attrs) {
  norm_backward_vjp<RmsNormBackward>(v, attrs, false);
}

ShardRule RmsNormBackward::shard(const Infer& c, const Attrs&) {
  return norm_backward_rule(c);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  return call_all<RmsNorm>({x, weight}, {epsilon, norm_dtype(x)})[0];
}

const Register<RmsNorm> register_rms_norm;
const Register<RmsNormBackward> register_rms_norm_backward;

}  // namespace tessera
