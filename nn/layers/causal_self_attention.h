// Attention of every position to itself and those before it.
#pragma once

#include <tuple>

#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct AttentionLayerOptions {
  std::int64_t kv_heads = 0;  ///< heads of keys and values, each shared by some of queries; 0: all
  bool bias = true;
  double dropout = 0;                     ///< of attention weights and of the output
  Initializer weight_init = nullptr;      ///< of c_attn
  Initializer projection_init = nullptr;  ///< of c_proj
  Initializer bias_init = nullptr;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "kv_heads", o.kv_heads, "bias", o.bias, "dropout", o.dropout);
  }
};

/// x (batch, time, width) -> the same shape: causal attention with `heads` heads (Vaswani et al.,
/// "Attention Is All You Need", NeurIPS 2017), with the names that nanoGPT gives its parts. c_attn
/// computes queries, keys and values, one behind the other.
class CausalSelfAttention : public Module {
 public:
  /// Throws InvalidArgument, naming the nearest numbers that work, when `heads` does not divide
  /// `width`, or kv_heads does not divide `heads`.
  CausalSelfAttention(std::int64_t width, std::int64_t heads,
                      const AttentionLayerOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const AttentionLayerOptions options{.kv_heads = kv_heads_, .bias = bias_, .dropout = dropout_};
    return std::tuple(width_, heads_, options);
  }
  [[nodiscard]] std::string extra_repr() const override;

  Child<Linear> c_attn;
  Child<Linear> c_proj;
  Child<Dropout> resid_dropout;

 private:
  std::int64_t width_;
  std::int64_t heads_;
  std::int64_t kv_heads_;
  bool bias_;
  double dropout_;
};

/// Throws InvalidArgument, naming the nearest widths and numbers of heads that work, when `heads`
/// does not divide `width`.
void check_heads(std::int64_t width, std::int64_t heads);

}  // namespace tessera::nn
