// Forwards that compare samples with each other: what a pass of several microbatches cannot do is
// refused in every layout, whether or not the samples met what exists once a microbatch before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/prod.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/layers/batch_norm.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using testing_support::error_of;

Tensor centred(const Tensor& y) {
  return y - mean(y, {0}, true);
}

/// All pairs of samples.
Tensor products(const Tensor& y) {
  return matmul(y, transpose(y, 0, 1));
}

using Forward = std::function<Tensor(const Tensor& y)>;

const std::map<std::string, Forward> kMixing = {
    {"products of samples", products},
    {"products of centred samples", [](const Tensor& y) { return products(centred(y)); }},
    {"products of samples that are divided by the norm of all",
     [](const Tensor& y) { return products(y / norm(y)); }},
    {"softmax over samples", [](const Tensor& y) { return softmax(y, 0); }},
    {"softmax over centred samples", [](const Tensor& y) { return softmax(centred(y), 0); }},
    {"the mean in front of the samples",
     [](const Tensor& y) {
       return concat({mean(y, {0}, true), y}, 0);
     }},
    {"the mean behind the samples",
     [](const Tensor& y) {
       return concat({y, mean(y, {0}, true)}, 0);
     }},
};

auto training(const Forward& forward) {
  return loop([forward](Pair& p, const Tensor& x, const Tensor&) {
    square(forward(p.a(x))).backward();
    p.of_a.step();
  });
}

/// The text of what `ranks` (0: no more than this process) throw with passes of all microbatches.
std::string refusal(const Forward& forward, int ranks, std::int64_t at_once) {
  const auto train = training(forward);
  return error_of<Unsupported>([&] {
    return ranks == 0 ? train(at_once, [](nn::Module&) { return 0; })
                      : train_on_ranks(train, kGrain, ranks, at_once);
  });
}

TEST(MixedSamples, are_refused_wherever_microbatches_could_share_a_pass) {
  for (const auto& [name, forward] : kMixing) {
    SCOPED_TRACE(name);
    EXPECT_THAT(refusal(forward, 0, 0), ::testing::HasSubstr("grain = 1 makes the batch one"));
    EXPECT_THAT(refusal(forward, 0, 2), ::testing::HasSubstr("grain = 1 makes the batch one"));
    for (const int ranks : {2, 3, 8}) {  // of eight, each has one microbatch
      EXPECT_THAT(refusal(forward, ranks, 0), ::testing::HasSubstr("at_once = 1")) << ranks;
    }
  }
}

TEST(MixedSamples, are_those_of_a_microbatch_in_passes_of_one) {
  for (const auto& [name, forward] : kMixing) {
    SCOPED_TRACE(name);
    const auto train = training(forward);
    const auto expected = train(1, [](nn::Module&) { return 0; });
    EXPECT_EQ(train_on_ranks(train, kGrain, 2, 1), expected);
    EXPECT_EQ(train_on_ranks(train, kGrain, 4, 1), expected);
  }
}

/// Batch norm takes the statistics of a microbatch, and says so; what it did not ask for is
/// refused.
TEST(MixedSamples, are_refused_beside_batch_norm) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    const auto norm = nn::make<nn::BatchNorm1d>(kWidth);
    optim::AdamW optimizer(norm->parameters(), {.lr = 0.01});
    [[maybe_unused]] const auto reducer = wrap(*norm);
    auto loader = loader_of(at_once);
    for (auto& [x, classes] : loader) {
      square(products(norm(x))).backward();
      optimizer.step();
    }
    return values_of(*norm);
  };
  for (const int ranks : {1, 2, 8}) {
    const std::string said =
        error_of<Unsupported>([&] { return train_on_ranks(train, kGrain, ranks, 0); });
    EXPECT_THAT(said, ::testing::HasSubstr("matmul: meets samples")) << ranks;
  }
}

/// Sums over the samples of a microbatch compare none with others.
TEST(MixedSamples, may_be_added_up) {
  const auto covariance = [](const Tensor& y) {
    const Tensor z = centred(y);
    return matmul(transpose(z, 0, 1), z);
  };
  expect_same_bits_on_ranks(training(covariance), kGrain, {2, 3, 8});
}

/// Inside a microbatch the gradient of a product, and of what is chosen by places, mixes samples.
TEST(MixedSamples, may_be_multiplied_and_the_largest_taken) {
  expect_same_bits_on_ranks(training([](const Tensor& y) { return prod(y * 2.0, {0}); }), kGrain,
                            {2, 3, 8});
  expect_same_bits_on_ranks(training([](const Tensor& y) { return max(y, {0}); }), kGrain,
                            {2, 3, 8});
}

}  // namespace
}  // namespace tessera::dist
