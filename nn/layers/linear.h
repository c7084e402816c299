// The affine map.
#pragma once

#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct LinearOptions {
  bool bias = true;
  Initializer weight_init = nullptr;  ///< without one kaiming_uniform(sqrt(5)), as in PyTorch
  Initializer bias_init = nullptr;    ///< without one uniform in +-1 / sqrt(in_features)

  static void each(auto& options, const auto& f) { f("bias", options.bias); }
};

/// x (..., in_features) -> x weight^T + bias (..., out_features). `in_features` may be kInferred,
/// see nn/layers/lazy.h.
class Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const Shape& sizes = weight.declared_shape();
    return std::tuple(sizes[1], sizes[0], LinearOptions{.bias = bias.defined()});
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (out_features, in_features)
  Parameter bias;    ///< (out_features); undefined without bias

 protected:
  /// Takes the features of `x` for those that were inferred.
  void infer_sizes(const Tensor& x);
};

}  // namespace tessera::nn
