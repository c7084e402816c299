// Losses that count elements, of batches and models that differ in length: every sum of a backward
// is scaled by one n, and the bits are those of one process.
#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/loss/weighted_mean.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using LabelledRows = data::DataLoader<data::TensorDataset<2>>;

/// Sequences of `length` vectors, a third of them without a label.
LabelledRows sequences(std::int64_t length, std::int64_t at_once, std::int64_t grain = kGrain) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < kSamples * length; ++i) {
    labels.push_back(i % 3 == 0 ? -100 : i % kWidth);
  }
  return LabelledRows(data::TensorDataset{randn({kSamples, length, kWidth}),
                                          from_values<std::int64_t>(labels, {kSamples, length})},
                      {.batch_size = 16, .workers = 0, .grain = grain, .at_once = at_once});
}

Values both(const nn::Module& a, const nn::Module& b) {
  Values values = values_of(a);
  for (auto& more : values_of(b)) {
    values.push_back(std::move(more));
  }
  return values;
}

/// The head learns on short sequences before both do on long ones.
Values train_curriculum(std::int64_t at_once, const auto& wrap) {
  set_seed(7);
  const auto trunk = nn::make<nn::Linear>(kWidth, kWidth);
  const auto head = nn::make<nn::Linear>(kWidth, kWidth);
  optim::SGD of_trunk(trunk->parameters(), {.lr = 0.1});
  optim::SGD of_head(head->parameters(), {.lr = 0.1});
  [[maybe_unused]] const auto trunk_handle = wrap(*trunk);
  [[maybe_unused]] const auto head_handle = wrap(*head);
  LabelledRows brief = sequences(2, at_once);
  LabelledRows lengthy = sequences(8, at_once);
  trunk->requires_grad_(false);
  for (auto& [x, y] : brief) {
    cross_entropy(head(trunk(x)), y).backward();
    of_head.step();
  }
  trunk->requires_grad_(true);
  for (auto& [x, y] : lengthy) {
    cross_entropy(head(tanh(trunk(x))), y).backward();
    of_trunk.step();
    of_head.step();
  }
  return both(*trunk, *head);
}

TEST(LossLengths, of_two_models_in_one_loss_may_have_differed_before) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return train_curriculum(at_once, wrap);
  };
  expect_same_bits_on_ranks(train, kGrain, {1, 2, 3, 4});
}

struct TwoHeads : nn::Module {
  nn::Child<nn::Linear> a{this, "a", kWidth, kWidth};
  nn::Child<nn::Linear> b{this, "b", kWidth, kWidth};
};

TEST(LossLengths, of_heads_that_take_turns_may_differ) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    const auto model = nn::make<TwoHeads>();
    optim::SGD optimizer(model->parameters(), {.lr = 0.1});
    [[maybe_unused]] const auto handle = wrap(*model);
    LabelledRows loader = sequences(3, at_once);
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (auto& [x, y] : loader) {
        const bool one = Context::current().step % 2 == 1;
        (one ? cross_entropy(model->a(select(x, 1, 0)), select(y, 1, 0))
             : cross_entropy(model->b(x), y))
            .backward();
        optimizer.step();
      }
    }
    return values_of(*model);
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

/// Sums of weights are below 0 in some microbatches.
Values train_signed(std::int64_t grain, std::int64_t at_once, const auto& wrap) {
  set_seed(7);
  const auto model = nn::make<nn::Linear>(kWidth, kWidth);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  [[maybe_unused]] const auto handle = wrap(*model);
  LabelledRows loader = sequences(1, at_once, grain);
  for (auto& [x, y] : loader) {
    const Tensor each = sum(model(select(x, 1, 0)), {1});
    const Tensor positive = cast(select(select(x, 1, 0), 1, 0) > 0.0, DType::f32);
    nn::weighted_mean(each * each, positive * 1.5 - 0.4).backward();
    optimizer.step();
  }
  return values_of(*model);
}

TEST(LossLengths, weights_may_be_signed) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return train_signed(kGrain, at_once, wrap);
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 4});
  const auto alone = [](nn::Module&) { return 0; };
  const Values cut = train_signed(kGrain, 0, alone);
  const Values whole = train_signed(1, 0, alone);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    for (std::size_t j = 0; j < cut[i].size(); ++j) {
      EXPECT_NEAR(cut[i][j], whole[i][j], 1e-4 * (1 + std::abs(whole[i][j])));
    }
  }
}

TEST(LossLengths, weights_that_cancel_are_refused) {
  const Tensor values = tensor<float>({1, 2, 3, 4});
  EXPECT_EQ(nn::weighted_mean(values, zeros({4})).item<float>(), 0);
  const std::string error = testing_support::error_of([&] {
    return nn::weighted_mean(values, tensor<float>({1, -1, 2, -2})).item<float>();
  });
  EXPECT_NE(error.find("weights of a microbatch add up to 0"), std::string::npos) << error;
}

}  // namespace
}  // namespace tessera::dist
