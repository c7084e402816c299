#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/optim/adamw.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

struct ByteLstm : nn::Module {
  /// ids (T, B) -> logits (T, B, 256).
  Tensor forward(const Tensor& ids) const { return head(lstm(embed(ids)).first); }

  nn::Child<nn::Embedding> embed{this, "embed", 256, 256};
  nn::Child<nn::LSTM> lstm{this, "lstm", 256, 512, nn::RecurrentOptions{.num_layers = 2}};
  nn::Child<nn::Linear> head{this, "head", 512, 256};
};

}  // namespace

std::unique_ptr<Training> byte_lstm(DType dtype) {
  const Tensor ids = random_classes({64, 16}, 256), next = random_classes({64, 16}, 256);
  return train<ByteLstm, optim::AdamW>(
      {.lr = 1e-3}, dtype, [ids, next](const nn::Ptr<ByteLstm>& model) {
        return nn::cross_entropy_loss(model(ids), next, {.class_dim = -1});
      });
}

}  // namespace tessera::bench
