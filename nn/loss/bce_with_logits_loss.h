// Binary cross entropy of logits.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct BCEWithLogitsLossOptions {
  Tensor weight = {};      ///< of elements; broadcasts to the input
  Tensor pos_weight = {};  ///< of positive examples, a class; broadcasts to the input
  Reduction reduction = Reduction::mean;

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("reduction", options.reduction);
  }
};

/// -(pos_weight target log(p) + (1 - target) log(1 - p)) with p = sigmoid(input), computed without
/// forming p. Input and target have one shape.
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                      const BCEWithLogitsLossOptions& options = {});

/// binary_cross_entropy_with_logits as a module.
class BCEWithLogitsLoss : public Module {
 public:
  explicit BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(BCEWithLogitsLossOptions{.reduction = reduction_});
  }

  Buffer weight;      ///< undefined without weights
  Buffer pos_weight;  ///< undefined without weights

 private:
  Reduction reduction_;
};

}  // namespace tessera::nn
