// The logarithm of the logistic function as a module.
#pragma once

#include <tessera/core/ops/log_sigmoid.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// ln(1 / (1 + e^-x)), element by element.
class LogSigmoid : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const { return log_sigmoid(x); }
};

}  // namespace tessera::nn
