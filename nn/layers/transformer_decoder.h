// The decoder of a Transformer.
#pragma once

#include <tessera/nn/layers/transformer_decoder_layer.h>
#include <tessera/nn/layers/transformer_stack.h>

namespace tessera::nn {

/// `num_layers` TransformerDecoderLayers one after another, and with `final_norm` a LayerNorm
/// behind them. Each layer begins with values of its own; PyTorch's are copies of one.
class TransformerDecoder : public TransformerStack<TransformerDecoderLayer> {
 public:
  /// Throws ValueError for less than one layer, and what the layers throw.
  TransformerDecoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const TransformerLayerOptions& options = {}, bool final_norm = false)
      : TransformerStack("TransformerDecoder", num_layers, d_model, nhead, options, final_norm) {}
  /// Takes what TransformerDecoderLayer takes: every layer attends to the memory.
  [[nodiscard]] Tensor forward(const Tensor& tgt, const Tensor& memory,
                               const AttentionMasks& masks = {},
                               const AttentionMasks& memory_masks = {}) const {
    return run(tgt, memory, masks, memory_masks);
  }
};

}  // namespace tessera::nn
