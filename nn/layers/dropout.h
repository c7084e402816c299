// Zeroing elements at random.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

/// In training, zeroes each element with probability `p` and scales the others with 1 / (1 - p);
/// else gives x (Srivastava et al., "Dropout", JMLR 2014). What is zeroed follows from the seed,
/// the step, the sample, this module's path and the number of the draw under it.
class Dropout : public Module {
 public:
  /// Throws InvalidArgument for p outside [0, 1].
  explicit Dropout(double p);
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  [[nodiscard]] std::string extra_repr() const override;
  [[nodiscard]] double p() const { return p_; }

 private:
  double p_;
};

}  // namespace tessera::nn
