// Cross entropy as a module.
#pragma once

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// The mean of -log softmax(logits)[target] over all rows: logits (..., classes), targets (...) of
/// any integer dtype -> a number. See core/ops/cross_entropy.h for the options.
class CrossEntropyLoss : public Module {
 public:
  explicit CrossEntropyLoss(const CrossEntropy::Attrs& options = {}) : options_(options) {}
  [[nodiscard]] Tensor forward(const Tensor& logits, const Tensor& targets) const {
    return cross_entropy(logits, targets, options_);
  }

 private:
  CrossEntropy::Attrs options_;
};

}  // namespace tessera::nn
