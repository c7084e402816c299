// The encoder of a Transformer.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/transformer_encoder_layer.h>

namespace tessera::nn {

/// `num_layers` TransformerEncoderLayers one after another, and with `final_norm` a LayerNorm
/// behind them. Each layer begins with values of its own; PyTorch's are copies of one.
class TransformerEncoder : public Module {
 public:
  /// Throws ValueError for less than one layer, and what the layers throw.
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const TransformerLayerOptions& options = {}, bool final_norm = false);
  /// src (T, N, d_model), (N, T, ...) with batch_first, or (T, d_model) -> the same shape.
  [[nodiscard]] Tensor forward(const Tensor& src, const AttentionMasks& masks = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(num_layers_, d_model_, nhead_, options_, norm.has_value());
  }

  Child<ModuleList<TransformerEncoderLayer>> layers;
  std::optional<Child<LayerNorm>> norm;

 private:
  std::int64_t num_layers_, d_model_, nhead_;
  TransformerLayerOptions options_;
};

}  // namespace tessera::nn
