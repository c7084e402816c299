#include <tessera/nn/layers/bilinear.h>

#include <cmath>

#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

Shape weight_shape(std::int64_t in1, std::int64_t in2, std::int64_t out) {
  check<ValueError>(in1 >= 1 && in2 >= 1 && out >= 1, "Bilinear: features must be positive; got ",
                    in1, " and ", in2, " in, ", out, " out");
  return {out, in1, in2};
}

Initializer or_default(const Initializer& given, std::int64_t in1_features) {
  const double bound = 1 / std::sqrt(static_cast<double>(in1_features));
  return given ? given : init::uniform(-bound, bound);
}

}  // namespace

Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   const BilinearOptions& options)
    : weight(this, "weight", weight_shape(in1_features, in2_features, out_features),
             or_default(options.weight_init, in1_features)) {
  bias = parameter_if(options.bias, this, "bias", {out_features},
                      or_default(options.bias_init, in1_features));
}

Tensor Bilinear::forward(const Tensor& x1, const Tensor& x2) const {
  return bilinear(x1, x2, weight, bias);
}

std::string Bilinear::extra_repr() const {
  const Shape& shape = weight.shape();
  return tessera::detail::concat("in1_features=", shape[1], ", in2_features=", shape[2],
                                 ", out_features=", shape[0],
                                 ", bias=", python_bool(bias.defined()));
}

// A linear map of all products of two features.
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  check(weight.ndim() == 3, "bilinear: the weight must be 3-D; got ", weight.shape());
  const auto [one, two] = stacked_alike(x1, x2);
  const Shape left = unstacked_shape(one), right = unstacked_shape(two);
  check(!left.empty() && left.size() == right.size() && left.back() == weight.size(1) &&
            right.back() == weight.size(2),
        "bilinear: inputs do not fit the weight; got ", left, " and ", right,
        ", expected last dims ", weight.size(1), " and ", weight.size(2));
  const Tensor products = unsqueeze(one, -1) * unsqueeze(two, -2);
  return linear(flatten(products, -2, -1), flatten(weight, 1, 2), bias);
}

}  // namespace tessera::nn
