#include "model.h"

#include <cmath>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/normal.h>

namespace nn = tessera::nn;
using tessera::Tensor;

namespace {

/// GPT-2's initialisation: normal weights, narrower where a block adds to the residual stream.
constexpr double kStd = 0.02;

nn::TransformerBlockOptions block_options(const GptConfig& config) {
  const double residual = kStd / std::sqrt(2.0 * static_cast<double>(config.layers));
  return {.dropout = config.dropout,
          .weight_init = nn::init::normal(0, kStd),
          .projection_init = nn::init::normal(0, residual),
          .bias_init = nn::init::zeros()};
}

}  // namespace

Transformer::Transformer(const GptConfig& config)
    : wte(this, "wte", config.vocab, config.width,
          nn::EmbeddingOptions{.weight_init = nn::init::normal(0, kStd)}),
      wpe(this, "wpe", config.context, config.width,
          nn::EmbeddingOptions{.weight_init = nn::init::normal(0, kStd)}),
      drop(this, "drop", config.dropout),
      h(this, "h"),
      ln_f(this, "ln_f", config.width),
      checkpoint_(config.checkpoint_activations) {
  for (std::int64_t i = 0; i < config.layers; ++i) {
    h->add(config.width, config.heads, block_options(config));
  }
}

Tensor Transformer::forward(const Tensor& ids) const {
  const Tensor positions =
      tessera::arange(ids.size(-1), {.dtype = tessera::DType::i64, .device = ids.device()});
  Tensor x = drop(wte(ids) + wpe(positions));
  for (const auto& block : *h) {
    x = checkpoint_ ? tessera::checkpoint([&](const Tensor& in) { return block(in); }, x)
                    : block(x);
  }
  return ln_f(x);
}

Gpt::Gpt(const GptConfig& c)
    : transformer(this, "transformer", c),
      lm_head(this, "lm_head", c.width, c.vocab,
              nn::LinearOptions{.bias = false, .weight_init = nn::init::normal(0, kStd)}),
      config(c) {
  if (c.tied) {
    lm_head->weight.tie(transformer->wte->weight);
  }
}

Tensor Gpt::forward(const Tensor& ids, const Tensor& targets) const {
  return tessera::linear_cross_entropy(transformer(ids), lm_head->weight, targets);
}

Tensor Gpt::next_logits(const Tensor& ids) const {
  const Tensor x = transformer(ids);
  return lm_head(tessera::select(x, 1, -1));
}
