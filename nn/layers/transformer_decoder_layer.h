// A layer of a Transformer's decoder.
#pragma once

#include <tuple>

#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/transformer_layer.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// A TransformerEncoderLayer with an attention to what the encoder made between its two branches.
class TransformerDecoderLayer : public Module {
 public:
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});
  /// tgt (T, N, d_model), memory (S, N, d_model), with batch_first (N, T, ...), or both without N
  /// -> the shape of tgt. `masks` are of the attention of tgt to itself, `memory_masks` of that to
  /// the memory.
  [[nodiscard]] Tensor forward(const Tensor& tgt, const Tensor& memory,
                               const AttentionMasks& masks = {},
                               const AttentionMasks& memory_masks = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(d_model_, nhead_, options_); }

  Child<MultiheadAttention> self_attn;
  Child<MultiheadAttention> multihead_attn;
  Child<Linear> linear1;
  Child<Dropout> dropout;
  Child<Linear> linear2;
  Child<LayerNorm> norm1;
  Child<LayerNorm> norm2;
  Child<LayerNorm> norm3;
  Child<Dropout> dropout1;
  Child<Dropout> dropout2;
  Child<Dropout> dropout3;

 private:
  [[nodiscard]] Tensor attend(const Tensor& x, const AttentionMasks& masks) const;
  [[nodiscard]] Tensor attend_memory(const Tensor& x, const Tensor& memory,
                                     const AttentionMasks& masks) const;
  [[nodiscard]] Tensor feed_forward(const Tensor& x) const;

  std::int64_t d_model_, nhead_;
  TransformerLayerOptions options_;
};

}  // namespace tessera::nn
