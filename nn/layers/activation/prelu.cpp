#include <tessera/nn/layers/activation/prelu.h>

#include <tessera/core/ops/prelu.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn {
namespace {

Shape checked(std::int64_t num_parameters) {
  check<ValueError>(num_parameters >= 1, "PReLU: num_parameters must be positive; got ",
                    num_parameters);
  return {num_parameters};
}

}  // namespace

PReLU::PReLU(std::int64_t num_parameters, double init)
    : weight(this, "weight", checked(num_parameters), init::constant(init)), init_(init) {}

Tensor PReLU::forward(const Tensor& x) const {
  return prelu(x, weight);
}

std::string PReLU::extra_repr() const {
  return "num_parameters=" + std::to_string(weight.shape()[0]);
}

void PReLU::reset_parameters() {
  const NoGradGuard off_the_tape;
  const Tensor value = weight;
  value.copy_(full(value.shape(), init_, {.dtype = value.dtype()}));
}

}  // namespace tessera::nn
