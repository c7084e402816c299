// The decoder of a Transformer.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/transformer_decoder_layer.h>

namespace tessera::nn {

/// `num_layers` TransformerDecoderLayers one after another, and with `final_norm` a LayerNorm
/// behind them. Each layer begins with values of its own; PyTorch's are copies of one.
class TransformerDecoder : public Module {
 public:
  /// Throws ValueError for less than one layer, and what the layers throw.
  TransformerDecoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const TransformerLayerOptions& options = {}, bool final_norm = false);
  /// As TransformerDecoderLayer: every layer attends to the memory.
  [[nodiscard]] Tensor forward(const Tensor& tgt, const Tensor& memory,
                               const AttentionMasks& masks = {},
                               const AttentionMasks& memory_masks = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(num_layers_, d_model_, nhead_, options_, norm.has_value());
  }

  Child<ModuleList<TransformerDecoderLayer>> layers;
  std::optional<Child<LayerNorm>> norm;

 private:
  std::int64_t num_layers_, d_model_, nhead_;
  TransformerLayerOptions options_;
};

}  // namespace tessera::nn
