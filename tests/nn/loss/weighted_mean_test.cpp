#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "losses.h"

namespace tessera::nn {
namespace {

TEST(WeightedMean, divides_by_the_weights) {
  const Tensor x = tensor<double>({1, 2, 6});
  const Tensor w = tensor<double>({1, 0.5, 0});
  EXPECT_DOUBLE_EQ(weighted_mean(x, w).item(), 2 / 1.5);
  EXPECT_DOUBLE_EQ(weighted_mean(x, tensor<bool>({true, false, true})).item(), 3.5);
  expect_numbers(gradient_of_sum([&](const Tensor& v) { return weighted_mean(v, w); }, x),
                 {1 / 1.5, 0.5 / 1.5, 0});
  EXPECT_THROW(static_cast<void>(weighted_mean(x, tensor<double>({1}))), ValueError);
}

TEST(WeightedMean, over_nothing_is_zero) {
  const Tensor x = tensor<double>({1, 2});
  const Tensor none = tensor<double>({0, 0});
  EXPECT_EQ(weighted_mean(x, none).item(), 0);
  expect_numbers(gradient_of_sum([&](const Tensor& v) { return weighted_mean(v, none); }, x),
                 {0, 0});
}

/// Two microbatches of two elements: means 3 of weight 1 and 6.5 of weight 4.
Tensor two_microbatches() {
  Tensor x = from_values<float>({3, 9, 5, 7}, {4});
  Tensor w = from_values<float>({1, 0, 1, 3}, {4});
  w.get().set_microbatches({.count = 2, .dim = 0});
  x.get().set_microbatches(w.microbatches());
  return weighted_mean(x, w);
}

TEST(WeightedMean, item_weighs_microbatches_by_what_they_count) {
  const Tensor mean = two_microbatches();
  EXPECT_EQ(mean.to_vector<double>(), (std::vector<double>{3, 6.5}));
  EXPECT_DOUBLE_EQ(mean.item(), (3 + 4 * 6.5) / 5);
  EXPECT_DOUBLE_EQ((mean * 2).item(), 2 * (3 + 4 * 6.5) / 5);
  EXPECT_DOUBLE_EQ(mean.detach().item(), (3 + 4 * 6.5) / 5);
}

/// The same two microbatches; a mean over all of their elements.
Tensor mean_of_all(bool counted_whole = false) {
  Tensor x = from_values<float>({3, 9, 5, 7}, {4});
  Tensor w = ones({4});
  w.get().set_microbatches({.count = 2, .dim = 0});
  x.get().set_microbatches(w.microbatches());
  return counted_whole ? weighted_mean(x, w) : mean(x);
}

void expect_refused(const Tensor& loss) {
  try {
    static_cast<void>(loss.item());
    ADD_FAILURE() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("weighted_mean and a mean over all samples"));
  }
}

TEST(WeightedMean, beside_a_mean_over_all_samples_is_refused) {
  expect_refused(two_microbatches() + mean_of_all());
  expect_refused(mean_of_all() - two_microbatches() * 2);
  expect_refused(sum(stack({two_microbatches(), mean_of_all()})));
  const Tensor loss = two_microbatches() * 1;
  add_(loss, mean_of_all());
  expect_refused(loss);
  expect_refused(two_microbatches() + mean_of_all() + two_microbatches());
  const Tensor w = ones({2}).set_requires_grad(true);
  const Tensor roots[] = {two_microbatches() * sum(w), mean_of_all() * sum(w)};
  EXPECT_THROW(backward(roots, std::vector<Tensor>(2)), InvalidArgument);
}

TEST(WeightedMean, beside_anything_in_a_tensor_is_refused) {
  const Tensor both = zeros_like(stack({two_microbatches(), two_microbatches()}));
  select(both, -1, 0).copy_(two_microbatches());
  EXPECT_THROW(static_cast<void>(sum(both).item()), InvalidArgument);
}

TEST(WeightedMean, goes_with_what_is_the_same_for_all_samples) {
  const double alone = two_microbatches().item();
  EXPECT_DOUBLE_EQ((two_microbatches() + full({}, 2)).item(), alone + 2);  // a penalty
  EXPECT_DOUBLE_EQ((zeros_like(two_microbatches()) + two_microbatches()).item(), alone);
  const Tensor total = zeros_like(two_microbatches());
  add_(total, two_microbatches());
  EXPECT_DOUBLE_EQ(total.item(), alone);
  EXPECT_DOUBLE_EQ(sum(stack({two_microbatches(), two_microbatches()})).item(), 2 * alone);
  EXPECT_DOUBLE_EQ(sum(unsqueeze(two_microbatches(), 0)).item(), alone);
  const Tensor whole = mean_of_all(true);
  EXPECT_DOUBLE_EQ((whole + mean_of_all()).item(), 2 * whole.item());
}

}  // namespace
}  // namespace tessera::nn
