// Binary cross entropy of probabilities.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct BCELossOptions {
  Tensor weight = {};  ///< of elements; broadcasts to the input
  Reduction reduction = Reduction::mean;

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("reduction", options.reduction);
  }
};

/// -(target log(input) + (1 - target) log(1 - input)), both in [0, 1] and of one shape. Logarithms
/// are at least -100, as in PyTorch. Throws InvalidArgument for numbers outside [0, 1].
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                          const BCELossOptions& options = {});

/// binary_cross_entropy as a module.
class BCELoss : public Module {
 public:
  explicit BCELoss(const BCELossOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(BCELossOptions{.reduction = reduction_});
  }

  Buffer weight;  ///< undefined without weights

 private:
  Reduction reduction_;
};

}  // namespace tessera::nn
