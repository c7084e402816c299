// One layer of a GPT.
#pragma once

#include <tuple>

#include <tessera/nn/layers/causal_self_attention.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/mlp.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct TransformerBlockOptions {
  bool bias = true;
  double dropout = 0;
  double eps = 1e-5;                      ///< of the norms
  Initializer weight_init = nullptr;      ///< of c_attn and c_fc
  Initializer projection_init = nullptr;  ///< of both c_proj, which add to the stream
  Initializer bias_init = nullptr;        ///< of linear layers

  static void each(auto& o, const auto& f) {
    visit_fields(f, "bias", o.bias, "dropout", o.dropout, "eps", o.eps);
  }
};

/// x (batch, time, width) -> the same shape: x + attn(ln_1(x)), then x + mlp(ln_2(x)), the form of
/// GPT-2 with norms before the branches and nanoGPT's names.
class TransformerBlock : public Module {
 public:
  TransformerBlock(std::int64_t width, std::int64_t heads,
                   const TransformerBlockOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(width_, heads_, options_); }

  Child<LayerNorm> ln_1;
  Child<CausalSelfAttention> attn;
  Child<LayerNorm> ln_2;
  Child<Mlp> mlp;

 private:
  std::int64_t width_, heads_;
  TransformerBlockOptions options_;
};

}  // namespace tessera::nn
