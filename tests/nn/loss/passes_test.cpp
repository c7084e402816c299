// Every loss gives the same bits however many microbatches share a pass.
#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
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
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::Inputs;
using testing_support::numbers;

/// Loss of predictions (N, 6) and what else a batch holds.
using Loss = std::function<Tensor(const Tensor& prediction, const Inputs& batch)>;

void expect_same_bits_of_loss(const Loss& loss, const Inputs& others) {
  Inputs batch{numbers({8, 5}, 1, DType::f32)};
  batch.insert(batch.end(), others.begin(), others.end());
  testing_support::expect_same_bits_for_all_passes(
      [&](const Inputs& p, const Inputs& in) { return loss(linear(in[0], p[0]), in); },
      {numbers({6, 5}, 2, DType::f32)}, batch);
}

Tensor numbers_like_predictions() {
  return numbers({8, 6}, 3, DType::f32);
}
/// 1 and -1, as many as samples.
Tensor signs() {
  return tensor<float>({1, -1, -1, 1, 1, 1, -1, 1});
}
/// One class a sample; some ignored.
Tensor labels() {
  return tensor<std::int64_t>({5, 0, -100, 3, 1, 1, 4, 2});
}
Tensor weights_of_six() {
  return tensor<float>({1, 0.5F, 2, 1.5F, 0.25F, 3});
}

TEST(LossesInPasses, regression) {
  for (const Reduction r : {Reduction::mean, Reduction::sum}) {
    const Inputs target{numbers_like_predictions()};
    expect_same_bits_of_loss([=](auto& x, auto& in) { return mse_loss(x, in[1], r); }, target);
    expect_same_bits_of_loss([=](auto& x, auto& in) { return l1_loss(x, in[1], r); }, target);
    expect_same_bits_of_loss(
        [=](auto& x, auto& in) { return huber_loss(x, in[1], {.reduction = r, .delta = 0.5}); },
        target);
    expect_same_bits_of_loss(
        [=](auto& x, auto& in) { return smooth_l1_loss(x, in[1], {.reduction = r, .beta = 0.5}); },
        target);
  }
}

TEST(LossesInPasses, probabilities) {
  const Inputs target{softmax(numbers_like_predictions(), 1)};
  for (const KLDivReduction r : {KLDivReduction::mean, KLDivReduction::batchmean}) {
    expect_same_bits_of_loss(
        [=](auto& x, auto& in) { return kl_div(log_softmax(x, 1), in[1], {.reduction = r}); },
        target);
  }
  expect_same_bits_of_loss(
      [](auto& x, auto& in) { return binary_cross_entropy(sigmoid(x), in[1]); }, target);
  expect_same_bits_of_loss(
      [](auto& x, auto& in) {
        return binary_cross_entropy_with_logits(x, in[1], {.pos_weight = weights_of_six()});
      },
      target);
}

TEST(LossesInPasses, classes) {
  const Inputs target{labels()};
  for (const Tensor& weight : {Tensor(), weights_of_six()}) {
    expect_same_bits_of_loss(
        [&](auto& x, auto& in) { return nll_loss(log_softmax(x, 1), in[1], {.weight = weight}); },
        target);
    expect_same_bits_of_loss(
        [&](auto& x, auto& in) {
          return cross_entropy_loss(x, in[1], {.weight = weight, .label_smoothing = 0.1});
        },
        target);
    expect_same_bits_of_loss(
        [&](auto& x, auto& in) { return cross_entropy_loss(x, in[1], {.weight = weight}); },
        {softmax(numbers_like_predictions(), 1)});
    expect_same_bits_of_loss(
        [&](auto& x, auto& in) { return multi_margin_loss(x, in[1], {.weight = weight}); },
        {tensor<std::int64_t>({5, 0, 1, 3, 1, 1, 4, 2})});
  }
}

TEST(LossesInPasses, classes_before_other_dims) {
  const Tensor target =
      from_values<std::int64_t>({2, 0, 1, 1, 0, -100, 2, 2, 1, 0, 0, 1, 2, 1, 0, 0}, {8, 2});
  for (const Tensor& weight : {Tensor(), tensor<float>({1, 0.5F, 2})}) {
    testing_support::expect_same_bits_for_all_passes(
        [&](const Inputs& p, const Inputs& in) {
          return cross_entropy_loss(permute(linear(in[0], p[0]), {0, 2, 1}), in[1],
                                    {.weight = weight});
        },
        {numbers({3, 5}, 2, DType::f32)}, {numbers({8, 2, 5}, 1, DType::f32), target});
  }
}

TEST(LossesInPasses, pairs) {
  const Tensor y = numbers_like_predictions();
  const Tensor z = numbers({8, 6}, 4, DType::f32);
  expect_same_bits_of_loss(
      [](auto& x, auto& in) { return cosine_embedding_loss(x, in[1], in[2], {.margin = 0.25}); },
      {y, signs()});
  expect_same_bits_of_loss([](auto& x, auto& in) { return margin_ranking_loss(x, in[1], in[2]); },
                           {y, z});
  expect_same_bits_of_loss([](auto& x, auto& in) { return hinge_embedding_loss(x, in[1]); }, {y});
  for (const bool swap : {false, true}) {
    expect_same_bits_of_loss(
        [=](auto& x, auto& in) { return triplet_margin_loss(x, in[1], in[2], {.swap = swap}); },
        {y, z});
  }
}

TEST(LossesInPasses, ctc) {
  const Tensor targets =
      from_values<std::int64_t>({1, 2, 2, 1, 1, 1, 2, 0, 1, 2, 2, 2, 1, 0, 2, 1}, {8, 2});
  const Tensor frames = tensor<std::int64_t>({4, 4, 3, 4, 2, 3, 4, 4});
  const Tensor lengths = tensor<std::int64_t>({2, 2, 2, 1, 2, 2, 1, 2});
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& in) {
        const Tensor logs = log_softmax(linear(in[0], p[0]), 2);
        return ctc_loss(permute(logs, {1, 0, 2}), in[1], in[2], in[3], {.zero_infinity = true});
      },
      {numbers({3, 5}, 2, DType::f32)},
      {numbers({8, 4, 5}, 1, DType::f32), targets, frames, lengths});
}

TEST(LossesInPasses, that_were_seeds_of_other_gradients_still_weigh_microbatches) {
  const auto gradient = [](bool as_seed) {
    const Tensor weight = numbers({6, 5}, 2, DType::f32).set_requires_grad(true);
    data::DataLoader loader(data::TensorDataset(numbers({8, 5}, 1, DType::f32), labels()),
                            {.batch_size = 8, .grain = 2});
    for (const auto& [x, y] : loader) {
      const Tensor predicted = linear(x, weight);
      const Tensor loss = cross_entropy_loss(predicted, y), other = mean(predicted);
      if (as_seed) {
        static_cast<void>(grad(std::span(&other, 1), std::span(&weight, 1), std::span(&loss, 1),
                               {.keep_graph = true}));
      }
      loss.backward();
    }
    return weight.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

}  // namespace
}  // namespace tessera::nn
