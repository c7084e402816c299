#include <tessera/nn/layers/linear.h>

#include <cmath>

#include <tessera/core/ops/linear.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/uniform.h>

namespace tessera::nn {
namespace {

Initializer bias_default(std::int64_t in_features) {
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  return init::uniform(-bound, bound);
}

}  // namespace

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options)
    : weight(this, "weight", {out_features, in_features},
             options.weight_init ? options.weight_init : init::kaiming_uniform(std::sqrt(5.0))) {
  check(in_features >= 1 && out_features >= 1, "Linear: features must be positive; got ",
        in_features, " in and ", out_features, " out");
  bias = options.bias ? Parameter(this, "bias", {out_features},
                                  options.bias_init ? options.bias_init : bias_default(in_features))
                      : register_parameter("bias", nullptr);
}

Tensor Linear::forward(const Tensor& x) const {
  return linear(x, weight, bias);
}

std::string Linear::extra_repr() const {
  return tessera::detail::concat("in_features=", weight.shape()[1],
                                 ", out_features=", weight.shape()[0],
                                 ", bias=", bias.defined() ? "True" : "False");
}

}  // namespace tessera::nn
