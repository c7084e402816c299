#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/data/transforms/center_crop.h>
#include <tessera/nn/data/transforms/compose.h>
#include <tessera/nn/data/transforms/normalize.h>
#include <tessera/nn/data/transforms/random_crop.h>
#include <tessera/nn/data/transforms/random_horizontal_flip.h>
#include <tessera/nn/data/transforms/resize.h>
#include <tessera/nn/data/transforms/to_float.h>
#include <tessera/nn/data/transforms/transformed.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::error_of;

/// 0, 1, 2, ... as u8 (channels, height, width).
Tensor counting_image(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return cast(reshape(arange(channels * height * width), {channels, height, width}), DType::u8);
}

TEST(Transforms, to_float_maps_bytes_to_fractions) {
  const Tensor x = cast(tensor({0, 51, 255}), DType::u8);
  const Tensor y = ToFloat()(x);
  EXPECT_EQ(y.dtype(), DType::f32);
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(0.F, 51.F / 255.F, 1.F));
  EXPECT_TRUE(ToFloat()(y).is(y));
  EXPECT_THAT(error_of<TypeError>([] { return ToFloat()(arange(2)); }), HasSubstr("got i64"));
}

TEST(Transforms, normalize_takes_numbers_for_each_channel_or_for_all) {
  const Tensor x = from_values({1.F, 2.F, 3.F, 4.F}, {2, 1, 2});
  EXPECT_THAT(Normalize({1, 3}, {0.5, 2})(x).to_vector<float>(), ElementsAre(0, 2, 0, 0.5));
  EXPECT_THAT(Normalize({1}, {2})(x).to_vector<float>(), ElementsAre(0, 0.5, 1, 1.5));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                return Normalize({1, 2, 3}, {1, 1, 1})(x);
              }),
              HasSubstr("got 2, expected 3"));
  EXPECT_THAT(error_of<TypeError>([] { return Normalize({1}, {2})(counting_image(1, 2, 2)); }),
              HasSubstr("got u8"));
  EXPECT_THROW(Normalize({1}, {1, 2}), ValueError);
  EXPECT_THROW(Normalize({}, {}), ValueError);
  EXPECT_THROW(Normalize({1}, {0}), ValueError);
}

/// Results of torch.nn.functional.interpolate(x, size, mode="bilinear"), x = (0, 1, ..., 11)^2 / 4.
TEST(Transforms, resize_is_pytorchs_bilinear_interpolation) {
  const Tensor n = cast(counting_image(1, 3, 4), DType::f32);
  const Tensor x = n * n * 0.25;
  const std::vector<double> smaller{0.125,  1.625,  2.125,  5.225,  5.125,
                                    10.625, 12.925, 20.825, 18.125, 27.625};
  const std::vector<double> wider{1,    1.375,  1.9583333, 2.7916667, 3.875,  4.75,
                                  13.0, 14.875, 17.458333, 20.291667, 23.375, 25.75};
  EXPECT_THAT(Resize(5, 2)(x).to_vector<double>(),
              testing::Pointwise(testing::DoubleNear(1e-5), smaller));
  EXPECT_THAT(Resize(2, 6)(x).to_vector<double>(),
              testing::Pointwise(testing::DoubleNear(1e-5), wider));
}

TEST(Transforms, resize_keeps_proportions_and_rounds_bytes) {
  EXPECT_EQ(Resize(4)(counting_image(3, 5, 8)).shape(), Shape({3, 4, 6}));  // 8 * 4 / 5 = 6.4
  EXPECT_EQ(Resize(4)(counting_image(1, 8, 5)).shape(), Shape({1, 6, 4}));
  const Tensor y = Resize(1, 4)(cast(from_values({0, 255}, {1, 1, 2}), DType::u8));
  EXPECT_EQ(y.dtype(), DType::u8);
  EXPECT_THAT(y.to_vector<int>(), ElementsAre(0, 64, 191, 255));  // 63.75 and 191.25
  EXPECT_THROW(Resize(0), InvalidArgument);
  EXPECT_THROW(Resize(3, -1), InvalidArgument);
  EXPECT_THAT(error_of<InvalidArgument>([] {
                return Resize(4)(zeros({2, 3}));
              }),
              HasSubstr("got shape (2, 3), expected (channels, height, width)"));
  EXPECT_THROW(Resize(4)(zeros({3, 0, 5})), InvalidArgument);
}

TEST(Transforms, center_crop_takes_the_middle) {
  const Tensor x = counting_image(2, 4, 5);
  EXPECT_THAT(CenterCrop(2)(x).to_vector<int>(), ElementsAre(7, 8, 12, 13, 27, 28, 32, 33));
  EXPECT_THAT(CenterCrop({1, 2})(counting_image(1, 4, 5)).to_vector<int>(), ElementsAre(12, 13));
  EXPECT_EQ(CenterCrop({4, 5})(x).to_vector<int>(), x.to_vector<int>());
  EXPECT_THAT(error_of<InvalidArgument>([&] { return CenterCrop(5)(x); }),
              HasSubstr("got 4 x 5, expected at least 5 x 5"));
}

TEST(Transforms, random_crop_takes_every_place_about_equally_often) {
  const Tensor x = counting_image(1, 3, 4);
  std::array<int, 6> count{};
  Random random(3);
  for (int i = 0; i < 6000; ++i) {
    const auto corner = RandomCrop({2, 2})(x, random).to_vector<int>();
    EXPECT_EQ(corner[3], corner[0] + 5);  // one row and one column on
    ++count[static_cast<std::size_t>(corner[0] / 4 * 3 + corner[0] % 4)];
  }
  for (const int n : count) {
    EXPECT_NEAR(n, 1000, 150);  // five standard deviations
  }
}

TEST(Transforms, random_crop_pads_with_zeros) {
  const Tensor x = ones({1, 2, 2});
  Random random(1);
  std::set<double> sums;
  for (int i = 0; i < 200; ++i) {
    const Tensor y = RandomCrop(2, {.padding = 1})(x, random);
    const auto values = y.to_vector<double>();
    sums.insert(values[0] + values[1] + values[2] + values[3]);
  }
  EXPECT_THAT(sums, ElementsAre(1, 2, 4));  // corners, edges, the middle
  EXPECT_THAT(error_of<InvalidArgument>([&] { return RandomCrop(5, {.padding = 1})(x, random); }),
              HasSubstr("got 4 x 4, expected at least 5 x 5"));
  EXPECT_THROW(RandomCrop(2, {.padding = -1}), InvalidArgument);
}

TEST(Transforms, random_horizontal_flip_mirrors_with_its_probability) {
  const Tensor x = counting_image(2, 1, 3);
  Random random(1);
  int flipped = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto y = RandomHorizontalFlip(0.3)(x, random).to_vector<int>();
    const bool mirrored = y == std::vector<int>{2, 1, 0, 5, 4, 3};
    EXPECT_TRUE(mirrored || y == x.to_vector<int>());
    flipped += mirrored ? 1 : 0;
  }
  EXPECT_NEAR(flipped, 600, 100);  // five standard deviations
  EXPECT_EQ(RandomHorizontalFlip(1)(x, random).to_vector<int>()[0], 2);
  EXPECT_EQ(RandomHorizontalFlip(0)(x, random).to_vector<int>()[0], 0);
  EXPECT_THROW(RandomHorizontalFlip(1.5), ValueError);
}

TEST(Transforms, compose_calls_functions_of_both_forms_in_order) {
  const Compose both(
      [](const Tensor& x) { return x * 2; },
      [](const Tensor& x, Random& random) { return x + static_cast<double>(random.below(2)); },
      ToFloat());
  Random random(8);
  Random same(8);
  const double drawn = static_cast<double>(same.below(2));
  EXPECT_EQ(both(ones({1}), random).item(), 2 + drawn);
}

TEST(Transforms, a_transformed_data_set_changes_inputs_and_nothing_else) {
  const auto doubled = [](const Tensor& x) { return x * 2; };
  const auto dataset = transform(TensorDataset(arange(3), arange(3)), doubled);
  EXPECT_EQ(dataset.size(), 3);
  EXPECT_EQ(dataset.get(2)[0].item(), 4);
  EXPECT_EQ(dataset.get(2)[1].item(), 2);
  EXPECT_EQ(dataset.facts(), dataset.dataset().facts());
}

TEST(Transforms, a_random_transform_gets_a_sample_the_same_way_each_time) {
  const auto dataset = transform(TensorDataset(zeros({4, 1, 6, 6})), RandomCrop(2, {.padding = 2}));
  const auto noisy = transform(dataset, [](const Tensor& x, Random& random) {
    return x + static_cast<double>(random.uniform());
  });
  EXPECT_EQ(noisy.get(1)[0].to_vector<float>(), noisy.get(1)[0].to_vector<float>());
  EXPECT_NE(noisy.get(1)[0].to_vector<float>(), noisy.get(2)[0].to_vector<float>());
}

}  // namespace
}  // namespace tessera::data
