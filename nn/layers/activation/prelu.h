// The rectified linear unit with a learned slope left of zero.
#pragma once

#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// x where x > 0, weight x elsewhere, with one weight for all of x or one for each channel: index
/// of dim 1. Give the weight no decay: it draws slopes to 0.
class PReLU : public Module {
 public:
  /// Throws ValueError unless num_parameters is positive.
  explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(weight.declared_shape()[0], init_); }
  [[nodiscard]] std::string extra_repr() const override;
  /// Fills the weight with `init` again.
  void reset_parameters();

  Parameter weight;  ///< (num_parameters)

 private:
  double init_;
};

}  // namespace tessera::nn
