// Losses as modules: what they print, what they keep, and that they are their functions.
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

#include "losses.h"

namespace tessera::nn {
namespace {

template <class M>
std::string printed() {
  return make<M>()->repr();
}

TEST(Losses, print_as_in_pytorch) {
  EXPECT_EQ(printed<BCELoss>(), "BCELoss()");
  EXPECT_EQ(printed<BCEWithLogitsLoss>(), "BCEWithLogitsLoss()");
  EXPECT_EQ(printed<CosineEmbeddingLoss>(), "CosineEmbeddingLoss()");
  EXPECT_EQ(printed<CrossEntropyLoss>(), "CrossEntropyLoss()");
  EXPECT_EQ(printed<CTCLoss>(), "CTCLoss()");
  EXPECT_EQ(printed<HingeEmbeddingLoss>(), "HingeEmbeddingLoss()");
  EXPECT_EQ(printed<HuberLoss>(), "HuberLoss()");
  EXPECT_EQ(printed<KLDivLoss>(), "KLDivLoss()");
  EXPECT_EQ(printed<L1Loss>(), "L1Loss()");
  EXPECT_EQ(printed<MarginRankingLoss>(), "MarginRankingLoss()");
  EXPECT_EQ(printed<MSELoss>(), "MSELoss()");
  EXPECT_EQ(printed<MultiMarginLoss>(), "MultiMarginLoss()");
  EXPECT_EQ(printed<NLLLoss>(), "NLLLoss()");
  EXPECT_EQ(printed<SmoothL1Loss>(), "SmoothL1Loss()");
  EXPECT_EQ(printed<TripletMarginLoss>(), "TripletMarginLoss()");
  EXPECT_THROW(make<TripletMarginLoss>(TripletMarginLossOptions{.margin = -1}), ValueError);
}

std::vector<std::string> names_of(const Module& loss) {
  std::vector<std::string> names;
  for (const auto& [name, value] : loss.state_dict()) {
    names.push_back(name);
  }
  return names;
}

TEST(Losses, keep_weights_as_buffers) {
  using Names = std::vector<std::string>;
  const Tensor w = ones({3});
  EXPECT_EQ(names_of(*make<NLLLoss>()), Names{});
  EXPECT_EQ(names_of(*make<NLLLoss>(NLLLossOptions{.weight = w})), Names{"weight"});
  EXPECT_EQ(names_of(*make<CrossEntropyLoss>(CrossEntropyLossOptions{.weight = w})),
            Names{"weight"});
  EXPECT_EQ(names_of(*make<MultiMarginLoss>(MultiMarginLossOptions{.weight = w})), Names{"weight"});
  EXPECT_EQ(names_of(*make<BCELoss>(BCELossOptions{.weight = w})), Names{"weight"});
  const BCEWithLogitsLossOptions both{.weight = w, .pos_weight = w};
  EXPECT_EQ(names_of(*make<BCEWithLogitsLoss>(both)), (Names{"weight", "pos_weight"}));
}

/// A loss follows its buffer, not the tensor that it was made with.
TEST(Losses, use_the_weights_that_they_hold) {
  const Tensor target = tensor<std::int64_t>({2, 0});
  const auto nll = make<NLLLoss>(NLLLossOptions{.weight = ones({3}, {.dtype = DType::f64})});
  const auto entropy =
      make<CrossEntropyLoss>(CrossEntropyLossOptions{.weight = ones({3}, {.dtype = DType::f64})});
  const Tensor weight = tensor<double>({0.5, 2, 1.25});
  nll->load_state_dict({{"weight", weight}});
  entropy->load_state_dict({{"weight", weight}});
  EXPECT_EQ(nll(x23(), target).item(), nll_loss(x23(), target, {.weight = weight}).item());
  EXPECT_EQ(entropy(x23(), target).item(),
            cross_entropy_loss(x23(), target, {.weight = weight}).item());
}

TEST(Losses, hand_their_options_on) {
  const auto huber = make<HuberLoss>(HuberLossOptions{.reduction = Reduction::sum, .delta = 2});
  EXPECT_EQ(huber(x23(), y23()).item(),
            huber_loss(x23(), y23(), {.reduction = Reduction::sum, .delta = 2}).item());
  const auto triplet = make<TripletMarginLoss>(TripletMarginLossOptions{.margin = 3, .swap = true});
  EXPECT_EQ(triplet(x23(), y23(), z23()).item(),
            triplet_margin_loss(x23(), y23(), z23(), {.margin = 3, .swap = true}).item());
  const auto squared = make<MSELoss>(Reduction::none);
  EXPECT_EQ(squared(x23(), y23()).shape(), x23().shape());
}

}  // namespace
}  // namespace tessera::nn
