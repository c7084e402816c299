#include <tessera/nn/layers/dropout.h>

#include <tessera/core/ops/dropout.h>

namespace tessera::nn {

Dropout::Dropout(double p) : p_(p) {
  check(p >= 0 && p <= 1, "Dropout: wrong probability; got ", p, ", expected one in [0, 1]");
}

Tensor Dropout::forward(const Tensor& x) const {
  return training() && p_ > 0 ? dropout(x, p_) : x;
}

std::string Dropout::extra_repr() const {
  return tessera::detail::concat("p=", p_);
}

}  // namespace tessera::nn
