#include <tessera/nn/layers/dropout.h>

#include <tessera/nn/python_text.h>

namespace tessera::nn {

DropoutBase::DropoutBase(double p, bool inplace) : p_(p), inplace_(inplace) {
  check<ValueError>(p >= 0 && p <= 1, "Dropout: wrong probability; got ", p,
                    ", expected one in [0, 1]");
}

std::string DropoutBase::extra_repr() const {
  return "p=" + python_text(p_) + ", inplace=" + python_bool(inplace_);
}

Tensor DropoutBase::apply_to(const Tensor& x, Tensor (*dropped)(const Tensor&, double)) const {
  if (!training() || p_ == 0) {
    return x;
  }
  const Tensor y = dropped(x, p_);
  return inplace_ ? x.copy_(y) : y;
}

}  // namespace tessera::nn
