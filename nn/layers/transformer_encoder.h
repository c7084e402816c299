// The encoder of a Transformer.
#pragma once

#include <tessera/nn/layers/transformer_encoder_layer.h>
#include <tessera/nn/layers/transformer_stack.h>

namespace tessera::nn {

/// `num_layers` TransformerEncoderLayers one after another, and with `final_norm` a LayerNorm
/// behind them. Each layer begins with values of its own; PyTorch's are copies of one.
class TransformerEncoder : public TransformerStack<TransformerEncoderLayer> {
 public:
  /// Throws ValueError for less than one layer, and what the layers throw.
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const TransformerLayerOptions& options = {}, bool final_norm = false)
      : TransformerStack("TransformerEncoder", num_layers, d_model, nhead, options, final_norm) {}
  /// src (T, N, d_model), (N, T, ...) with batch_first, or (T, d_model) -> the same shape.
  [[nodiscard]] Tensor forward(const Tensor& src, const AttentionMasks& masks = {}) const {
    return run(src, masks);
  }
};

}  // namespace tessera::nn
