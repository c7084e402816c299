#include <tessera/nn/layers/layer_norm.h>

#include <algorithm>

#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn {
namespace {

bool ends_in(const Shape& shape, const Shape& end) {
  const int before = shape.size() - end.size();
  return before >= 0 && std::equal(end.begin(), end.end(), shape.begin() + before);
}

/// The last `dims` dims as one.
Tensor as_rows(const Tensor& x, int dims) {
  return x.defined() ? flatten(x, -dims) : x;
}

}  // namespace

LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  check(!normalized_shape.empty() && numel_of(normalized_shape) >= 1,
        "LayerNorm: sizes must be positive; got ", normalized_shape);
  const bool biased = options.affine && options.bias;
  weight = options.affine ? Parameter(this, "weight", normalized_shape, init::ones())
                          : register_parameter("weight", nullptr);
  bias = biased ? Parameter(this, "bias", normalized_shape, init::zeros())
                : register_parameter("bias", nullptr);
}

Tensor LayerNorm::forward(const Tensor& x) const {
  check(ends_in(x.shape(), normalized_shape_), "LayerNorm: wrong shape; got ", x.shape(),
        ", expected one that ends in ", normalized_shape_);
  const int dims = normalized_shape_.size();
  if (dims == 1) {
    return layer_norm(x, weight, bias, eps_);
  }
  const Tensor y = layer_norm(as_rows(x, dims), as_rows(weight, dims), as_rows(bias, dims), eps_);
  return reshape(y, x.shape());
}

std::string LayerNorm::extra_repr() const {
  return tessera::detail::concat(normalized_shape_, ", eps=", eps_,
                                 ", elementwise_affine=", weight.defined() ? "True" : "False",
                                 ", bias=", bias.defined() ? "True" : "False");
}

}  // namespace tessera::nn
