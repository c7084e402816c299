#include <tessera/nn/layers/rms_norm.h>

#include <tessera/core/ops/rms_norm.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn {

RmsNorm::RmsNorm(std::int64_t width, double eps)
    : weight(this, "weight", {width}, init::ones()), eps_(eps) {
  check(width >= 1, "RmsNorm: the width must be positive; got ", width);
}

Tensor RmsNorm::forward(const Tensor& x) const {
  return rms_norm(x, weight, eps_);
}

std::string RmsNorm::extra_repr() const {
  return tessera::detail::concat("(", weight.shape()[0], ",), eps=", eps_);
}

}  // namespace tessera::nn
