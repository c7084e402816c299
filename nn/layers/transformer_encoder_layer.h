// A layer of a Transformer's encoder.
#pragma once

#include <tuple>

#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/transformer_layer.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// src (T, N, d_model), (N, T, ...) with batch_first, or (T, d_model) -> the same shape:
/// norm1(x + attention(x)), then norm2(x + linear2(activation(linear1(x)))) (Vaswani et al.,
/// "Attention Is All You Need", NeurIPS 2017, section 3.1), or with norm_first x +
/// attention(norm1(x)) and so on.
class TransformerEncoderLayer : public Module {
 public:
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& src, const AttentionMasks& masks = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(d_model_, nhead_, options_); }

  Child<MultiheadAttention> self_attn;
  Child<Linear> linear1;
  Child<Dropout> dropout;
  Child<Linear> linear2;
  Child<LayerNorm> norm1;
  Child<LayerNorm> norm2;
  Child<Dropout> dropout1;
  Child<Dropout> dropout2;

 private:
  [[nodiscard]] Tensor attend(const Tensor& x, const AttentionMasks& masks) const;
  [[nodiscard]] Tensor feed_forward(const Tensor& x) const;

  std::int64_t d_model_, nhead_;
  TransformerLayerOptions options_;
};

}  // namespace tessera::nn
