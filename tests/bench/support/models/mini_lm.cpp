// MiniLM (Wang et al., "MiniLM: Deep Self-Attention Distillation", NeurIPS 2020): BERT with six
// layers of 384, and a head that tells two classes of texts apart.
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/transformer_encoder.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/optim/adamw.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

constexpr std::int64_t kVocabulary = 30522, kWidth = 384, kTexts = 8, kLength = 128;

nn::TransformerLayerOptions layer_options() {
  return {.dim_feedforward = 4 * kWidth,
          .dropout = 0,
          .activation = nn::TransformerActivation::gelu,
          .batch_first = true};
}

struct MiniLm : nn::Module {
  /// ids (N, T) -> logits (N, 2).
  Tensor forward(const Tensor& ids) const {
    const Tensor x = norm(words(ids) + positions(arange(kLength)));
    return head(mean(encoder(x), {1}));
  }

  nn::Child<nn::Embedding> words{this, "words", kVocabulary, kWidth};
  nn::Child<nn::Embedding> positions{this, "positions", kLength, kWidth};
  nn::Child<nn::LayerNorm> norm{this, "norm", kWidth};
  nn::Child<nn::TransformerEncoder> encoder{this, "encoder", 6, kWidth, 12, layer_options()};
  nn::Child<nn::Linear> head{this, "head", kWidth, 2};
};

}  // namespace

std::unique_ptr<Training> mini_lm(DType dtype) {
  const Tensor ids = random_classes({kTexts, kLength}, kVocabulary),
               y = random_classes({kTexts}, 2);
  return train<MiniLm, optim::AdamW>({.lr = 1e-4}, dtype, [ids, y](const nn::Ptr<MiniLm>& model) {
    return nn::cross_entropy_loss(model(ids), y);
  });
}

}  // namespace tessera::bench
