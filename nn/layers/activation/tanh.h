// The hyperbolic tangent as a module.
#pragma once

#include <tessera/core/ops/tanh.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// tanh x, element by element.
class Tanh : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const { return tanh(x); }
};

}  // namespace tessera::nn
