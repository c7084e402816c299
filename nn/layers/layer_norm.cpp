#include <tessera/nn/layers/layer_norm.h>

#include <tessera/core/ops/layer_norm.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn {

LayerNorm::LayerNorm(std::int64_t width, const LayerNormOptions& options)
    : width_(width), eps_(options.eps) {
  check(width >= 1, "LayerNorm: the width must be positive; got ", width);
  const bool biased = options.affine && options.bias;
  weight = options.affine ? Parameter(this, "weight", {width}, init::ones())
                          : register_parameter("weight", nullptr);
  bias = biased ? Parameter(this, "bias", {width}, init::zeros())
                : register_parameter("bias", nullptr);
}

Tensor LayerNorm::forward(const Tensor& x) const {
  check(x.ndim() >= 1 && x.size(-1) == width_, "LayerNorm: wrong width; got shape ", x.shape(),
        ", expected a last dim of ", width_);
  return layer_norm(x, weight, bias, eps_);
}

std::string LayerNorm::extra_repr() const {
  return tessera::detail::concat("(", width_, ",), eps=", eps_,
                                 ", elementwise_affine=", weight.defined() ? "True" : "False");
}

}  // namespace tessera::nn
