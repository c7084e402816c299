#include <tessera/nn/layers/dropout.h>

#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/alpha_dropout.h>
#include <tessera/core/ops/channel_dropout.h>
#include <tessera/core/ops/elu.h>

#include "ops/gradients.h"
#include "support/values.h"

namespace tessera::nn {
namespace {

using testing_support::Floats;
using testing_support::Inputs;
using testing_support::numbers;
TEST(Dropout, prints_and_defaults_as_in_pytorch) {
  EXPECT_EQ(make<Dropout>()->repr(), "Dropout(p=0.5, inplace=False)");
  EXPECT_EQ(make<Dropout>(0.25, true)->repr(), "Dropout(p=0.25, inplace=True)");
  EXPECT_EQ(make<Dropout2d>()->repr(), "Dropout2d(p=0.5, inplace=False)");
  EXPECT_EQ(make<AlphaDropout>(0.1)->repr(), "AlphaDropout(p=0.1, inplace=False)");
}

TEST(Dropout, may_work_in_place) {
  const ContextScope context(std::make_shared<Context>());
  const auto layer = make<Dropout>(0.5, true);
  const Tensor x = ones({100});
  EXPECT_TRUE(layer(x).is(x));
  EXPECT_NE(x.to_vector<float>(), Floats(100, 1));
  EXPECT_THROW(layer(ones({2}).set_requires_grad(true)), RuntimeError);
}

template <class Layer>
void expect_idle_outside_training() {
  const auto layer = make<Layer>();
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(make<Layer>(0.0)(x).is(x));
  layer->eval();
  EXPECT_TRUE(layer(x).is(x));
  EXPECT_THROW(make<Layer>(-0.1), ValueError);
  EXPECT_THROW(make<Layer>(1.1), ValueError);
}

TEST(Dropout, all_kinds_are_idle_outside_training) {
  expect_idle_outside_training<Dropout>();
  expect_idle_outside_training<Dropout2d>();
  expect_idle_outside_training<AlphaDropout>();
}

TEST(Dropout2d, drops_whole_channels) {
  const ContextScope context(std::make_shared<Context>());
  const auto layer = make<Dropout2d>(0.25);
  const Floats y = layer(ones({40, 50, 2, 3})).to_vector<float>();
  int dropped = 0;
  for (std::size_t channel = 0; channel < 2000; ++channel) {
    const float first = y[channel * 6];
    ASSERT_TRUE(first == 0 || first == 1 / 0.75F);
    dropped += first == 0 ? 1 : 0;
    for (std::size_t i = 1; i < 6; ++i) {
      ASSERT_EQ(y[channel * 6 + i], first);
    }
  }
  EXPECT_NEAR(dropped, 500, 5 * std::sqrt(2000 * 0.25 * 0.75));  // five standard deviations
  EXPECT_THROW(layer(ones({3})), InvalidArgument);
  EXPECT_EQ(make<Dropout2d>(1.0)(ones({2, 2})).to_vector<float>(), Floats(4, 0));
}

TEST(AlphaDropout, keeps_mean_0_and_variance_1) {
  const ContextScope context(std::make_shared<Context>());
  constexpr std::int64_t kCount = 200000;
  const Tensor x = randn({kCount}, {.dtype = DType::f64});
  double sum = 0;
  double squares = 0;
  for (const double y : make<AlphaDropout>(0.3)(x).to_vector<double>()) {
    sum += y;
    squares += y * y;
  }
  const double slack = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(sum / kCount, 0, slack);
  EXPECT_NEAR(squares / kCount, 1, 2 * slack);
}

TEST(AlphaDropout, replaces_elements_by_the_limit_of_selu) {
  const ContextScope context(std::make_shared<Context>());
  const double p = 0.4;
  const double limit = -selu(full({1}, -100, {.dtype = DType::f64})).item();
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * limit * limit));
  const double shift = scale * p * limit;
  int dropped = 0;
  for (const double y :
       alpha_dropout(full({1000}, 2, {.dtype = DType::f64}), p).to_vector<double>()) {
    const bool kept = std::abs(y - (2 * scale + shift)) < 1e-12;
    EXPECT_TRUE(kept || std::abs(y - (shift - scale * limit)) < 1e-12) << y;
    dropped += kept ? 0 : 1;
  }
  EXPECT_NEAR(dropped, 400, 5 * std::sqrt(1000 * p * (1 - p)));
  EXPECT_EQ(alpha_dropout(ones({3}), 1).to_vector<float>(), Floats(3, 0));
}

TEST(Dropout2d, has_the_same_bits_for_all_passes) {
  for (const auto& drop : {channel_dropout, alpha_dropout}) {
    testing_support::expect_same_bits_for_all_passes(
        [&](const Inputs& p, const Inputs& x) {
          return testing_support::loss_of_samples(drop(x[0] * p[0], 0.5));
        },
        {numbers({6}, 2, DType::f32)}, {numbers({8, 3, 6}, 1, DType::f32)});
  }
}

}  // namespace
}  // namespace tessera::nn
