// Two linear layers with a GELU between them.
#pragma once

#include <tuple>

#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct MlpOptions {
  std::int64_t hidden = 0;  ///< width between the layers; 0: four times the width
  bool bias = true;
  double dropout = 0;                     ///< of the output
  Initializer weight_init = nullptr;      ///< of c_fc
  Initializer projection_init = nullptr;  ///< of c_proj
  Initializer bias_init = nullptr;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "hidden", o.hidden, "bias", o.bias, "dropout", o.dropout);
  }
};

/// x (..., width) -> c_proj(gelu(c_fc(x))) (..., width), with GELU by its tanh formula, as GPT-2
/// has it, and nanoGPT's names.
class Mlp : public Module {
 public:
  explicit Mlp(std::int64_t width, const MlpOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(width_, options_); }

  Child<Linear> c_fc;
  Child<Linear> c_proj;
  Child<Dropout> dropout;

 private:
  std::int64_t width_;
  MlpOptions options_;
};

}  // namespace tessera::nn
