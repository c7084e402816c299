// The gated linear unit as a module.
#pragma once

#include <tessera/core/ops/glu.h>
#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// The first half of x along `dim` times the logistic function of the second.
class GLU : public WithSettings<int> {
 public:
  explicit GLU(int dim = -1) : WithSettings({"dim"}, dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return glu(x, std::get<0>(settings())); }
};

}  // namespace tessera::nn
