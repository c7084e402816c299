#include <tessera/nn/layers/rms_norm.h>

#include <limits>

#include <tessera/core/ops/rms_norm.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn {

RMSNorm::RMSNorm(std::int64_t width, const RMSNormOptions& options)
    : width_(width), eps_(options.eps) {
  check(width >= 1, "RMSNorm: the width must be positive; got ", width);
  weight = options.affine ? Parameter(this, "weight", {width}, init::ones())
                          : register_parameter("weight", nullptr);
}

Tensor RMSNorm::forward(const Tensor& x) const {
  check(x.ndim() >= 1 && x.size(-1) == width_, "RMSNorm: wrong width; got shape ", x.shape(),
        ", expected a last dim of ", width_);
  const double smallest = x.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                  : double{std::numeric_limits<float>::epsilon()};
  return rms_norm(x, weight, eps_.value_or(smallest));
}

std::string RMSNorm::extra_repr() const {
  const std::string eps = eps_ ? tessera::detail::concat(*eps_) : "None";
  return tessera::detail::concat("(", width_, ",), eps=", eps,
                                 ", elementwise_affine=", weight.defined() ? "True" : "False");
}

}  // namespace tessera::nn
