#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/padding_mode.h>

#include "layers.h"
#include "support/values.h"

namespace tessera::nn {
namespace {

using testing_support::Floats;

TEST(Conv, prints_as_in_pytorch) {
  EXPECT_EQ(repr_of<Conv2d>(3, 64, 3), "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1))");
  EXPECT_EQ(repr_of<Conv2d>(3, 64, Dims{3, 5},
                            ConvOptions{.stride = 2, .padding = {1, 2}, .bias = false}),
            "Conv2d(3, 64, kernel_size=(3, 5), stride=(2, 2), padding=(1, 2), bias=False)");
  EXPECT_EQ(repr_of<Conv1d>(4, 8, 3,
                            ConvOptions{.padding = "same",
                                        .dilation = 2,
                                        .groups = 4,
                                        .padding_mode = PaddingMode::circular}),
            "Conv1d(4, 8, kernel_size=(3,), stride=(1,), padding=same, dilation=(2,), groups=4, "
            "padding_mode=circular)");
  EXPECT_EQ(repr_of<Conv3d>(1, 2, 3, ConvOptions{.padding = "valid"}),
            "Conv3d(1, 2, kernel_size=(3, 3, 3), stride=(1, 1, 1), padding=valid)");
  EXPECT_EQ(repr_of<ConvTranspose2d>(16, 33, 3,
                                     ConvTransposeOptions{.stride = 2, .output_padding = {1, 0}}),
            "ConvTranspose2d(16, 33, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 0))");
}

TEST(Conv, has_the_parameters_of_pytorch) {
  const auto layer = make<Conv2d>(6, 4, Dims{3, 2}, ConvOptions{.groups = 2});
  EXPECT_EQ(layer->weight.shape(), (Shape{4, 3, 3, 2}));
  EXPECT_EQ(layer->bias.shape(), (Shape{4}));
  const auto transposed = make<ConvTranspose1d>(6, 4, 3, ConvTransposeOptions{.groups = 2});
  EXPECT_EQ(transposed->weight.shape(), (Shape{6, 2, 3}));
  EXPECT_EQ(transposed->bias.shape(), (Shape{4}));
  EXPECT_FALSE(make<Conv1d>(1, 1, 1, ConvOptions{.bias = false})->bias.defined());
}

TEST(Conv, begins_as_in_pytorch) {
  const double bound = 1 / std::sqrt(16 * 9.0);
  const auto layer = make<Conv2d>(16, 1024, 3);  // among so many biases some lie near the bound
  for (const Parameter& parameter : layer->parameters()) {
    const auto values = parameter.value().to_vector<float>();
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_LE(*most, bound);
    EXPECT_GT(*most, 0.95 * bound);
    EXPECT_LT(*least, -0.95 * bound);
  }
}

/// A layer of one channel whose weight is `weight`, applied to `x`.
template <class M, class O>
Floats apply(const Floats& weight, const O& options, const Floats& x) {
  const auto size = static_cast<std::int64_t>(weight.size());
  const auto layer = make<M>(1, 1, size, options);
  layer->load_state_dict({{"weight", from_values(std::span<const float>(weight), {1, 1, size})}});
  const Shape shape{1, static_cast<std::int64_t>(x.size())};
  return layer(from_values(std::span<const float>(x), shape)).template to_vector<float>();
}

TEST(Conv, keeps_the_size_and_continues_the_input) {
  const auto padded = [](PaddingMode mode) {
    const ConvOptions options{.padding = "same", .bias = false, .padding_mode = mode};
    return apply<Conv1d>({1, 10, 100, 1000}, options, {1, 2, 3, 4});
  };
  EXPECT_EQ(padded(PaddingMode::zeros), (Floats{3210, 4321, 432, 43}));
  EXPECT_EQ(padded(PaddingMode::reflect), (Floats{3212, 4321, 3432, 2343}));
  EXPECT_EQ(padded(PaddingMode::replicate), (Floats{3211, 4321, 4432, 4443}));
  EXPECT_EQ(padded(PaddingMode::circular), (Floats{3214, 4321, 1432, 2143}));
}

TEST(Conv, refuses_more_padding_than_can_be_counted) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const PaddingMode mode : {PaddingMode::zeros, PaddingMode::replicate}) {
    for (const auto& [before, after] : {std::pair{kMost, kMost}, std::pair{kMost, std::int64_t{0}},
                                        std::pair{std::int64_t{0}, kMost}}) {
      EXPECT_THROW(pad_by(mode, ones({1, 1, 3}), {before}, {after}), InvalidArgument);
    }
  }
}

TEST(Conv, transposed_reaches_the_size_that_is_asked_for) {
  const auto layer = make<ConvTranspose2d>(2, 3, 3, ConvTransposeOptions{.stride = 2});
  const Tensor x = randn({1, 2, 4, 5});
  EXPECT_EQ(layer(x).shape(), (Shape{1, 3, 9, 11}));
  EXPECT_EQ(layer->forward(x, Dims{10, 11}).shape(), (Shape{1, 3, 10, 11}));
  EXPECT_THROW(static_cast<void>(layer->forward(x, Dims{11, 11})), ValueError);
}

TEST(Conv, takes_one_sample_alone) {
  const auto layer = make<Conv2d>(2, 3, 3);
  const Tensor x = randn({2, 5, 5});
  const Tensor y = layer(x);
  EXPECT_EQ(y.shape(), (Shape{3, 3, 3}));
  EXPECT_EQ(y.to_vector<float>(), layer(unsqueeze(x, 0)).to_vector<float>());
  EXPECT_THROW(static_cast<void>(layer(randn({5, 5}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(layer(randn({3, 5, 5}))), InvalidArgument);
}

TEST(Conv, refuses_options_that_do_not_fit) {
  EXPECT_THROW(make<Conv2d>(3, 4, 3, ConvOptions{.groups = 2}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 3, 3, ConvOptions{.groups = 2}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 4, 3, ConvOptions{.groups = 0}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 4, 3, ConvOptions{.stride = 2, .padding = "same"}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 4, 3, ConvOptions{.padding = "full"}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 4, Dims{3, 3, 3}), ValueError);
  EXPECT_THROW(make<Conv2d>(4, 4, 0), ValueError);
  EXPECT_THROW(make<Conv2d>(0, 4, 3), ValueError);
}

}  // namespace
}  // namespace tessera::nn
