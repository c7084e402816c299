// Normalisation of groups of channels.
#pragma once

#include <tuple>

#include <tessera/nn/layers/layer_norm.h>

namespace tessera::nn {

using GroupNormOptions = LayerNormOptions;

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
