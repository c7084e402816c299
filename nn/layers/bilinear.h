// The bilinear map of two inputs.
#pragma once

#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct BilinearOptions {
  bool bias = true;
  Initializer weight_init = nullptr;  ///< without one uniform in +-1 / sqrt(in1_features)
  Initializer bias_init = nullptr;    ///< without one uniform like the weight

  static void each(auto& options, const auto& f) { f("bias", options.bias); }
};

/// x1 (..., in1_features), x2 (..., in2_features) -> x1^T weight[k] x2 + bias[k] for every k:
/// (..., out_features).
class Bilinear : public Module {
 public:
  /// Throws ValueError unless all three numbers are positive.
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
           const BilinearOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x1, const Tensor& x2) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const Shape& sizes = weight.declared_shape();
    return std::tuple(sizes[1], sizes[2], sizes[0], BilinearOptions{.bias = bias.defined()});
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (out_features, in1_features, in2_features)
  Parameter bias;    ///< (out_features); undefined without bias
};

/// What Bilinear gives, as a function; an undefined bias means none.
[[nodiscard]] Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight,
                              const Tensor& bias = {});

}  // namespace tessera::nn
