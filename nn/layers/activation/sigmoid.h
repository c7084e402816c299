// The logistic function as a module.
#pragma once

#include <tessera/core/ops/sigmoid.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// 1 / (1 + e^-x), element by element.
class Sigmoid : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

}  // namespace tessera::nn
