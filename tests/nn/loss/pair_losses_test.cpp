// cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss and triplet_margin_loss.
#include <tessera/nn/loss/cosine_embedding_loss.h>
#include <tessera/nn/loss/hinge_embedding_loss.h>
#include <tessera/nn/loss/margin_ranking_loss.h>
#include <tessera/nn/loss/triplet_margin_loss.h>

#include "losses.h"
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::expect_gradients;

TEST(CosineEmbeddingLoss, is_that_of_pytorch) {
  const Tensor alike = tensor<double>({1, -1});
  const CosineEmbeddingLossOptions options{.margin = -0.5, .reduction = Reduction::none};
  const auto f = [&](const auto& in) {
    return cosine_embedding_loss(in[0], in[1], alike, options);
  };
  expect_numbers(f(testing_support::Inputs{x23(), y23()}),
                 {1.9151333141294844, 0.19387755102050813});
  expect_gradients(f, {x23(), y23()});
  const Tensor one = cosine_embedding_loss(tensor<float>({1, 0}), tensor<float>({0, 2}), scalar(1));
  EXPECT_EQ(one.shape(), Shape{});
  EXPECT_FLOAT_EQ(one.item<float>(), 1);
}

TEST(HingeEmbeddingLoss, is_that_of_pytorch) {
  const Tensor similar = from_values<double>({1, -1, -1, -1, 1, -1}, {2, 3});
  const auto f = [&](const Tensor& x) {
    return hinge_embedding_loss(x, similar, {.margin = 1.25, .reduction = Reduction::none});
  };
  expect_numbers(f(x23()), {0.5, 2.5, 0, 0.5, -0.5, 0});
  expect_numbers(gradient_of_sum(f, x23()), {1, -1, 0, -1, 1, 0});
}

TEST(MarginRankingLoss, is_that_of_pytorch) {
  const Tensor order = from_values<double>({1, -1, 1, -1, 1, -1}, {2, 3});
  const auto f = [&](const Tensor& x) {
    return margin_ranking_loss(x, y23(), order, {.margin = 0.5, .reduction = Reduction::none});
  };
  expect_numbers(f(x23()), {0.25, 0, 0, 0.5, 2.5, 2.5});
  expect_numbers(gradient_of_sum(f, x23()), {-1, 0, 0, 1, -1, 1});
}

TEST(TripletMarginLoss, is_that_of_pytorch) {
  const auto loss = [](const TripletMarginLossOptions& options) {
    return [options](const auto& in) { return triplet_margin_loss(in[0], in[1], in[2], options); };
  };
  const testing_support::Inputs inputs{x23(), y23(), z23()};
  const auto each = loss({.reduction = Reduction::none});
  expect_numbers(each(inputs), {1.5934470916799133, 1.7820880765919433});
  const auto swapped = loss({.margin = 2, .p = 1, .swap = true, .reduction = Reduction::sum});
  expect_numbers(swapped(inputs), {7.750002});
  const auto cubes = loss({.margin = 2, .p = 3});
  expect_numbers(cubes(inputs), {2.6727218250051887});
  // PyTorch's gradients: differences as small as eps are kinks to finite differences.
  const auto of_anchor = [&](const Tensor& x) {
    return each(testing_support::Inputs{x, y23(), z23()});
  };
  expect_numbers(gradient_of_sum(of_anchor, x23()),
                 {0.40021375899091016, 0.025952581270151542, 0.085211882295812, -0.8551858882270266,
                  -0.3405987364093787, 0.3405984661610135});
  const auto of_positive = [&](const Tensor& y) {
    return cubes(testing_support::Inputs{x23(), y, z23()});
  };
  expect_numbers(gradient_of_sum(of_positive, y23()),
                 {-0.0029197485319661445, 0.1868622242811899, -0.42044070536666067,
                  -7.874506561839021e-14, 0.31497994749337715, -0.3149805774539021});
}

TEST(PairLosses, have_no_slope_at_their_kinks) {
  const auto hinge = [](const Tensor& x) {
    return hinge_embedding_loss(x, tensor<double>({-1}), {.reduction = Reduction::none});
  };
  expect_numbers(gradient_of_sum(hinge, tensor<double>({1})), {0});
  const auto cosine = [](const Tensor& x) {
    return cosine_embedding_loss(x, tensor<double>({0, 1}), scalar(-1));
  };
  expect_numbers(gradient_of_sum(cosine, tensor<double>({1, 0})), {0, 0});
}

TEST(PairLosses, refuse_what_cannot_be_meant) {
  const Tensor x = ones({2, 3});
  const Tensor row = ones({3});
  EXPECT_THROW(static_cast<void>(cosine_embedding_loss(x, row, ones({2}))), ValueError);
  EXPECT_THROW(static_cast<void>(cosine_embedding_loss(x, x, ones({3}))), ValueError);
  EXPECT_THROW(static_cast<void>(cosine_embedding_loss(x, x, scalar(1))), ValueError);
  EXPECT_THROW(static_cast<void>(margin_ranking_loss(x, x, row)), ValueError);
  EXPECT_THROW(static_cast<void>(triplet_margin_loss(x, x, row)), ValueError);
  EXPECT_THROW(static_cast<void>(triplet_margin_loss(x, x, x, {.margin = 0})), ValueError);
  EXPECT_THROW(static_cast<void>(triplet_margin_loss(x, x, x, {.p = -1})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(hinge_embedding_loss(x, ones({2}))), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
