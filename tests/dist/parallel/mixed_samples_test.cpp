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
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/transpose.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

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
  try {
    if (ranks == 0) {
      static_cast<void>(train(at_once, [](nn::Module&) { return 0; }));
    } else {
      static_cast<void>(train_on_ranks(train, kGrain, ranks, at_once));
    }
    return "nothing was thrown";
  } catch (const Unsupported& error) {
    return error.what();
  }
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

/// Sums over the samples of a microbatch compare none with others.
TEST(MixedSamples, may_be_added_up) {
  const auto covariance = [](const Tensor& y) {
    const Tensor z = centred(y);
    return matmul(transpose(z, 0, 1), z);
  };
  expect_same_bits_on_ranks(training(covariance), kGrain, {2, 4, 8});
}

}  // namespace
}  // namespace tessera::dist
