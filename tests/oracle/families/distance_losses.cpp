#include <tessera/nn/loss/cosine_embedding_loss.h>
#include <tessera/nn/loss/hinge_embedding_loss.h>
#include <tessera/nn/loss/margin_ranking_loss.h>
#include <tessera/nn/loss/multi_margin_loss.h>
#include <tessera/nn/loss/triplet_margin_loss.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/losses.h"

namespace tessera::oracle {
namespace {

/// Options of a margin and a reduction.
template <class Options>
Options with_margin(const Attributes& a) {
  Options options;
  options.margin = a.number("margin", options.margin);
  options.reduction = reduction_of(a);
  return options;
}

nn::TripletMarginLossOptions triplet(const Attributes& a) {
  auto options = with_margin<nn::TripletMarginLossOptions>(a);
  options.p = a.number("p", 2.0);
  options.swap = a.flag("swap", false);
  return options;
}

const Counterparts<Layer> kDistanceLosses{
    {"CosineEmbeddingLoss",
     loss<nn::CosineEmbeddingLoss, with_margin<nn::CosineEmbeddingLossOptions>,
          nn::cosine_embedding_loss>()},
    {"MarginRankingLoss", loss<nn::MarginRankingLoss, with_margin<nn::MarginRankingLossOptions>,
                               nn::margin_ranking_loss>()},
    {"HingeEmbeddingLoss", loss<nn::HingeEmbeddingLoss, with_margin<nn::HingeEmbeddingLossOptions>,
                                nn::hinge_embedding_loss>()},
    {"MultiMarginLoss",
     loss<nn::MultiMarginLoss, with_margin<nn::MultiMarginLossOptions>, nn::multi_margin_loss>()},
    {"TripletMarginLoss", loss<nn::TripletMarginLoss, triplet, nn::triplet_margin_loss>()},
};

}  // namespace
}  // namespace tessera::oracle
