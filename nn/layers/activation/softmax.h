// Softmax along a dim as a module.
#pragma once

#include <tessera/core/ops/softmax.h>
#include <tessera/nn/layers/activation/softmax_dim.h>
#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// exp(x) / sum(exp(x)) along `dim`. Without one it is dim 0 of x with 1 or 3 dims, else dim 1, as
/// in PyTorch, which is said once in the log.
class Softmax : public WithSettings<std::optional<int>> {
 public:
  explicit Softmax(std::optional<int> dim = {}) : WithSettings({"dim"}, dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return softmax(x, softmax_dim("Softmax", std::get<0>(settings()), x));
  }
};

}  // namespace tessera::nn
