// Zeroing elements at random.
#pragma once

#include <tuple>

#include <tessera/core/ops/alpha_dropout.h>
#include <tessera/core/ops/channel_dropout.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// What the dropout layers share.
class DropoutBase : public Module {
 public:
  /// Throws ValueError for p outside [0, 1].
  DropoutBase(double p, bool inplace);
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(p_, inplace_); }
  [[nodiscard]] std::string extra_repr() const override;
  [[nodiscard]] double p() const { return p_; }

 protected:
  /// x as it is outside training, else `dropped(x, p)`, in place when that was asked for.
  [[nodiscard]] Tensor apply_to(const Tensor& x, Tensor (*dropped)(const Tensor&, double)) const;

 private:
  double p_;
  bool inplace_;
};

/// In training, zeroes each element with probability `p` and scales the others with 1 / (1 - p);
/// else gives x (Srivastava et al., "Dropout", JMLR 2014). What is zeroed follows from the seed,
/// the step, the sample, this module's path and the number of the draw under it.
class Dropout : public DropoutBase {
 public:
  explicit Dropout(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return apply_to(x, dropout); }
};

/// Dropout of whole channels of x (samples, channels, ...).
class Dropout2d : public DropoutBase {
 public:
  explicit Dropout2d(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return apply_to(x, channel_dropout); }
};

/// The dropout that goes with SELU: see core/ops/alpha_dropout.h.
class AlphaDropout : public DropoutBase {
 public:
  explicit AlphaDropout(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return apply_to(x, alpha_dropout); }
};

}  // namespace tessera::nn
