// A GPT: GPT-2's architecture, with nanoGPT's names.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/transformer_block.h>
#include <tessera/nn/module.h>

struct GptConfig {
  std::int64_t layers = 6;
  std::int64_t heads = 6;
  std::int64_t width = 384;
  std::int64_t context = 256;
  std::int64_t vocab = 256;
  double dropout = 0;
  bool tied = true;
  bool checkpoint_activations = false;
};

/// Embeddings, blocks, final norm: ids (B, T) to (B, T, width).
struct Transformer : tessera::nn::Module {
  explicit Transformer(const GptConfig& config);
  [[nodiscard]] tessera::Tensor forward(const tessera::Tensor& ids) const;

  tessera::nn::Child<tessera::nn::Embedding> wte;
  tessera::nn::Child<tessera::nn::Embedding> wpe;
  tessera::nn::Child<tessera::nn::Dropout> drop;
  tessera::nn::Child<tessera::nn::ModuleList<tessera::nn::TransformerBlock>> h;
  tessera::nn::Child<tessera::nn::LayerNorm> ln_f;

 private:
  bool checkpoint_;
};

struct Gpt : tessera::nn::Module {
  explicit Gpt(const GptConfig& config);
  /// The mean loss of predicting `targets` (B, T) from `ids` (B, T).
  [[nodiscard]] tessera::Tensor forward(const tessera::Tensor& ids,
                                        const tessera::Tensor& targets) const;
  /// Logits (B, vocab) of the token after the last one.
  [[nodiscard]] tessera::Tensor next_logits(const tessera::Tensor& ids) const;

  tessera::nn::Child<Transformer> transformer;
  tessera::nn::Child<tessera::nn::Linear> lm_head;
  const GptConfig config;
};
