// The logarithm of softmax along a dim as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/log_softmax.h>
#include <tessera/nn/layers/activation/softmax_dim.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// x - ln(sum(exp(x))) along `dim`. Without one it is dim 0 of x with 1 or 3 dims, else dim 1, as
/// in PyTorch, which is said once in the log.
class LogSoftmax : public Module {
 public:
  explicit LogSoftmax(std::optional<int> dim = {}) : dim_(dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return log_softmax(x, softmax_dim("LogSoftmax", dim_, x));
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(dim_); }
  [[nodiscard]] std::string extra_repr() const override { return dim_text(dim_); }

 private:
  std::optional<int> dim_;
};

}  // namespace tessera::nn
