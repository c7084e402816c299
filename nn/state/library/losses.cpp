#include <tessera/nn/loss/bce_loss.h>
#include <tessera/nn/loss/bce_with_logits_loss.h>
#include <tessera/nn/loss/cosine_embedding_loss.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/loss/ctc_loss.h>
#include <tessera/nn/loss/hinge_embedding_loss.h>
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/kl_div_loss.h>
#include <tessera/nn/loss/l1_loss.h>
#include <tessera/nn/loss/margin_ranking_loss.h>
#include <tessera/nn/loss/mse_loss.h>
#include <tessera/nn/loss/multi_margin_loss.h>
#include <tessera/nn/loss/nll_loss.h>
#include <tessera/nn/loss/smooth_l1_loss.h>
#include <tessera/nn/loss/triplet_margin_loss.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_losses(ClassEntries& all) {
  add_classes<BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss,
              HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MarginRankingLoss, MSELoss,
              MultiMarginLoss, NLLLoss, SmoothL1Loss, TripletMarginLoss>(all);
}

}  // namespace tessera::nn::detail
