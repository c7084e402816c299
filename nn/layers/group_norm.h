// Normalisation of groups of channels.
#pragma once

#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct GroupNormOptions {
  double eps = 1e-5;   ///< added to the variance
  bool affine = true;  ///< with weight
  bool bias = true;    ///< with bias, if affine

  static void each(auto& o, const auto& f) {
    visit_fields(f, "eps", o.eps, "affine", o.affine, "bias", o.bias);
  }
};

/// x (N, num_channels, ...), the channels in `num_groups` runs, every run of every sample brought
/// to mean 0 and variance 1, times weight plus bias (Wu and He, "Group Normalization", ECCV 2018).
/// Weights begin as ones, biases as zeros.
class GroupNorm : public Module {
 public:
  /// Throws ValueError when the groups do not divide the channels.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels,
            const GroupNormOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(num_groups_, num_channels_, options_); }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (num_channels); undefined when not affine
  Parameter bias;    ///< (num_channels); undefined without bias

 private:
  std::int64_t num_groups_, num_channels_;
  GroupNormOptions options_;
};

}  // namespace tessera::nn
