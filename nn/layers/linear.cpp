#include <tessera/nn/layers/linear.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/ops/linear.h>
#include <tessera/core/tensor/microbatch_shape.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

/// How a bias begins; null for features that are not known yet.
Initializer bias_default(std::int64_t in_features) {
  if (in_features == kInferred) {
    return nullptr;
  }
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  return init::uniform(-bound, bound);
}

}  // namespace

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options)
    : weight(this, "weight", {out_features, in_features},
             options.weight_init ? options.weight_init : init::kaiming_uniform(std::sqrt(5.0))) {
  const bool inferred = in_features == kInferred;
  check((in_features >= 1 || inferred) && out_features >= 1,
        "Linear: features must be positive; got ", in_features, " in and ", out_features, " out");
  bias = parameter_if(options.bias, this, "bias", {out_features},
                      options.bias_init ? options.bias_init : bias_default(in_features));
}

void Linear::infer_sizes(const Tensor& x) {
  check<ValueError>(unstacked_ndim(x) >= 1, "Linear: needs an input of one dim or more; got ",
                    x.shape());
  const std::int64_t in_features = x.size(-1);
  check<ValueError>(in_features >= 1, "Linear: needs an input of one feature or more; got ",
                    x.shape());
  weight.materialize({weight.declared_shape()[0], in_features});
  if (bias.defined() && !bias.slot()->initializer) {
    bias.slot()->initializer = bias_default(in_features);
  }
}

Tensor Linear::forward(const Tensor& x) const {
  return linear(x, weight, bias);
}

std::string Linear::extra_repr() const {
  const Shape& shape = weight.declared_shape();
  return tessera::detail::concat("in_features=", std::max(shape[1], std::int64_t{0}),
                                 ", out_features=", shape[0],
                                 ", bias=", python_bool(bias.defined()));
}

}  // namespace tessera::nn
