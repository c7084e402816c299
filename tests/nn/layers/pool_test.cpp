#include <gtest/gtest.h>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/upsample.h>

#include "layers.h"

namespace tessera::nn {
namespace {

TEST(Pools, print_as_in_pytorch) {
  EXPECT_EQ(repr_of<MaxPool2d>(2),
            "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)");
  EXPECT_EQ(
      repr_of<MaxPool3d>(
          Dims{2, 3, 3},
          MaxPoolOptions{.stride = 2, .padding = 1, .dilation = {2, 1, 1}, .ceil_mode = true}),
      "MaxPool3d(kernel_size=(2, 3, 3), stride=2, padding=1, dilation=(2, 1, 1), "
      "ceil_mode=True)");
  EXPECT_EQ(repr_of<AvgPool1d>(3, AvgPoolOptions{.stride = 2, .padding = 1}),
            "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))");
  EXPECT_EQ(repr_of<AvgPool2d>(2), "AvgPool2d(kernel_size=2, stride=2, padding=0)");
  EXPECT_EQ(repr_of<AdaptiveAvgPool1d>(5), "AdaptiveAvgPool1d(output_size=5)");
  EXPECT_EQ(repr_of<AdaptiveAvgPool2d>(Dims{5, 7}), "AdaptiveAvgPool2d(output_size=(5, 7))");
  EXPECT_EQ(repr_of<AdaptiveAvgPool2d>(Dims{5, -1}), "AdaptiveAvgPool2d(output_size=(5, None))");
  EXPECT_EQ(repr_of<PixelShuffle>(3), "PixelShuffle(upscale_factor=3)");
  EXPECT_EQ(repr_of<PixelUnshuffle>(2), "PixelUnshuffle(downscale_factor=2)");
}

TEST(Pools, take_samples_and_one_sample_alone) {
  const Tensor x = randn({2, 3, 7, 8});
  EXPECT_EQ(make<MaxPool2d>(2)(x).shape(), (Shape{2, 3, 3, 4}));
  EXPECT_EQ(make<AvgPool2d>(2, AvgPoolOptions{.ceil_mode = true})(x).shape(), (Shape{2, 3, 4, 4}));
  EXPECT_EQ(make<AdaptiveAvgPool2d>(1)(x).shape(), (Shape{2, 3, 1, 1}));
  EXPECT_EQ(make<MaxPool1d>(3)(randn({3, 7})).shape(), (Shape{3, 2}));
  EXPECT_EQ(make<AvgPool3d>(2)(x).shape(), (Shape{2, 1, 3, 4}));
  EXPECT_EQ(make<AdaptiveAvgPool3d>(Dims{2, 3, 4})(x).shape(), (Shape{2, 2, 3, 4}));
  EXPECT_EQ(make<AdaptiveAvgPool3d>(Dims{-1, 3, -1})(x).shape(),
            (Shape{2, x.size(1), 3, x.size(3)}));
  EXPECT_THROW(static_cast<void>(make<MaxPool3d>(2)(randn({3, 7}))), InvalidArgument);
}

TEST(Pools, refuse_numbers_that_cannot_be_meant) {
  EXPECT_THROW(make<MaxPool2d>(0), ValueError);
  EXPECT_THROW(make<MaxPool2d>(Dims{2, 2, 2}), ValueError);
  EXPECT_THROW(make<AvgPool2d>(2, AvgPoolOptions{.padding = -1}), ValueError);
  EXPECT_THROW(make<AvgPool2d>(2, AvgPoolOptions{.divisor_override = 0}), ValueError);
  EXPECT_THROW(make<AvgPool1d>(2, AvgPoolOptions{.divisor_override = 3}), ValueError);
  EXPECT_THROW(make<AdaptiveAvgPool2d>(0), ValueError);
  EXPECT_THROW(static_cast<void>(make<MaxPool1d>(2, MaxPoolOptions{.padding = 2})(randn({1, 4}))),
               InvalidArgument);
}

TEST(Upsample, prints_as_in_pytorch) {
  EXPECT_EQ(repr_of<Upsample>(UpsampleOptions{.scale_factor = 2}),
            "Upsample(scale_factor=2.0, mode='nearest')");
  EXPECT_EQ(repr_of<Upsample>(UpsampleOptions{.scale_factor = {{2.0, 1.5}}, .mode = "bilinear"}),
            "Upsample(scale_factor=(2.0, 1.5), mode='bilinear')");
  EXPECT_EQ(repr_of<Upsample>(UpsampleOptions{.size = {{4, 5}}, .mode = "bicubic"}),
            "Upsample(size=(4, 5), mode='bicubic')");
}

TEST(Upsample, has_the_modes_of_pytorch) {
  const Tensor x = randn({1, 2, 3, 4});
  EXPECT_EQ(make<Upsample>(UpsampleOptions{.scale_factor = 2})(x).shape(), (Shape{1, 2, 6, 8}));
  EXPECT_EQ(make<Upsample>(UpsampleOptions{.size = 5, .mode = "bicubic"})(x).shape(),
            (Shape{1, 2, 5, 5}));
  const auto make_with = [](const UpsampleOptions& options) { return make<Upsample>(options); };
  EXPECT_THROW(make_with({}), ValueError);
  EXPECT_THROW(make_with({.size = 2, .mode = "cubic"}), ValueError);
  EXPECT_THROW(make_with({.size = 2, .align_corners = true}), ValueError);
  const auto trilinear = make_with({.size = 5, .mode = "trilinear"});
  EXPECT_THROW(static_cast<void>(trilinear(x)), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
