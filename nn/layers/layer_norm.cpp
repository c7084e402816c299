#include <tessera/nn/layers/layer_norm.h>

#include <tessera/core/ops/layer_norm.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/trailing_dims.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  check_normalized_shape("LayerNorm", normalized_shape);
  weight = parameter_if(options.affine, this, "weight", normalized_shape, init::ones());
  bias =
      parameter_if(options.affine && options.bias, this, "bias", normalized_shape, init::zeros());
}

Tensor LayerNorm::forward(const Tensor& x) const {
  check_ends_in("LayerNorm", x, normalized_shape_);
  const int dims = normalized_shape_.size();
  const Tensor y = layer_norm(as_rows(x, dims), as_rows(weight, dims), as_rows(bias, dims), eps_);
  return dims == 1 ? y : reshape(y, unstacked_shape(x));
}

std::string LayerNorm::extra_repr() const {
  return tessera::detail::concat(normalized_shape_, ", eps=", python_text(eps_),
                                 ", elementwise_affine=", python_bool(weight.defined()),
                                 ", bias=", python_bool(bias.defined()));
}

}  // namespace tessera::nn
