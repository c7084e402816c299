#include <tessera/nn/layers/bilinear.h>

#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/base/error.h>

#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::Inputs;
using testing_support::numbers;

TEST(Bilinear, is_the_sum_of_all_products_of_features) {
  const Tensor x1 = numbers({4, 2}, 1);
  const Tensor x2 = numbers({4, 3}, 2);
  const Tensor weight = numbers({5, 2, 3}, 3);
  const Tensor bias = numbers({5}, 4);
  const auto y = bilinear(x1, x2, weight, bias).to_vector<double>();
  for (std::int64_t n = 0; n < 4; ++n) {
    for (std::int64_t k = 0; k < 5; ++k) {
      double expected = bias.data<double>()[k];
      for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
          expected += x1.data<double>()[n * 2 + i] * weight.data<double>()[(k * 2 + i) * 3 + j] *
                      x2.data<double>()[n * 3 + j];
        }
      }
      EXPECT_NEAR(y[static_cast<std::size_t>(n * 5 + k)], expected, 1e-14);
    }
  }
}

TEST(Bilinear, has_the_gradients_of_finite_differences) {
  testing_support::expect_gradients(
      [](const Inputs& x) { return bilinear(x[0], x[1], x[2], x[3]); },
      {numbers({2, 2, 2}, 1), numbers({2, 2, 3}, 2), numbers({4, 2, 3}, 3), numbers({4}, 4)});
}

TEST(Bilinear, has_the_same_bits_for_all_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(bilinear(x[0], x[1], p[0], p[1]));
      },
      {numbers({5, 2, 3}, 1, DType::f32), numbers({5}, 2, DType::f32)},
      {numbers({8, 2}, 3, DType::f32), numbers({8, 3}, 4, DType::f32)});
}

TEST(Bilinear, begins_and_prints_as_in_pytorch) {
  const auto layer = make<Bilinear>(400, 3, 20);
  EXPECT_EQ(layer->repr(),
            "Bilinear(in1_features=400, in2_features=3, out_features=20, bias=True)");
  for (const Parameter& parameter : layer->parameters()) {
    for (const float value : parameter.value().to_vector<float>()) {
      ASSERT_LE(std::abs(value), 0.05F);
    }
  }
  const auto plain = make<Bilinear>(2, 3, 4, BilinearOptions{.bias = false});
  EXPECT_EQ(plain->repr(), "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=False)");
  EXPECT_EQ(plain(ones({6, 2}), ones({6, 3})).shape(), (Shape{6, 4}));
}

TEST(Bilinear, refuses_what_does_not_fit) {
  EXPECT_THROW(make<Bilinear>(0, 1, 1), ValueError);
  const auto layer = make<Bilinear>(2, 3, 4);
  EXPECT_THROW(layer(ones({6, 3}), ones({6, 3})), InvalidArgument);
  EXPECT_THROW(layer(ones({6, 2}), ones({3})), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
