#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/rms_norm.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/loss/cross_entropy_loss.h>

#include "layers.h"
#include "support/values.h"

namespace tessera::nn {
namespace {

using testing_support::Floats;

std::string names_and_shapes_of(const Module& module) {
  std::ostringstream text;
  for (const auto& [name, parameter] : module.named_parameters()) {
    text << name << parameter.shape() << ' ';
  }
  return text.str();
}

TEST(Linear, multiplies_by_the_transposed_weight_and_adds_the_bias) {
  const auto layer = make<Linear>(3, 2);
  EXPECT_EQ(names_and_shapes_of(*layer), "weight(2, 3) bias(2,) ");
  EXPECT_EQ(text_of(*layer), "Linear(in_features=3, out_features=2, bias=True)");
  layer->load_state_dict({{"weight", from_values<float>({1, 2, 3, 4, 5, 6}, {2, 3})},
                          {"bias", tensor<float>({10, 20})}});
  const Tensor x = from_values<float>({1, 0, -1, 2, 2, 2}, {1, 2, 3});
  const Tensor y = layer(x);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{8, 18, 22, 50}));
}

TEST(Linear, begins_as_in_pytorch) {
  set_seed(1);
  const auto layer = make<Linear>(400, 300);
  for (const Parameter& parameter : layer->parameters()) {
    const auto values = parameter.value().to_vector<float>();
    EXPECT_LE(*std::max_element(values.begin(), values.end()), 0.05F);
    EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.049F);
    EXPECT_LT(*std::min_element(values.begin(), values.end()), -0.049F);
  }
  const auto plain = make<Linear>(4, 3, LinearOptions{.bias = false});
  EXPECT_EQ(names_and_shapes_of(*plain), "weight(3, 4) ");
  EXPECT_THROW(make<Linear>(0, 3), InvalidArgument);
}

TEST(Embedding, looks_up_rows) {
  const auto layer = make<Embedding>(3, 2);
  EXPECT_EQ(text_of(*layer), "Embedding(3, 2)");
  layer->load_state_dict({{"weight", from_values<float>({1, 2, 3, 4, 5, 6}, {3, 2})}});
  EXPECT_EQ(layer(tensor<std::int64_t>({2, 0})).to_vector<float>(), (Floats{5, 6, 1, 2}));
  EXPECT_THROW(layer(tensor<std::int64_t>({3})), InvalidArgument);
}

TEST(LayerNorm, brings_rows_to_mean_0_and_variance_1) {
  const auto layer = make<LayerNorm>(4, LayerNormOptions{.eps = 0.25});
  EXPECT_EQ(names_and_shapes_of(*layer), "weight(4,) bias(4,) ");
  layer->load_state_dict(
      {{"weight", tensor<float>({1, 2, 3, 4})}, {"bias", tensor<float>({0, 0, 0, 1})}});
  const auto y = layer(from_values<float>({1, 2, 3, 6}, {1, 4})).to_vector<float>();
  const double root = std::sqrt(3.5 + 0.25);
  EXPECT_NEAR(y[0], -2 / root, 1e-6);
  EXPECT_NEAR(y[1], -2 / root, 1e-6);
  EXPECT_NEAR(y[2], 0, 1e-6);
  EXPECT_NEAR(y[3], 1 + 12 / root, 1e-6);
  EXPECT_THROW(layer(ones({1, 3})), InvalidArgument);
  EXPECT_EQ(names_and_shapes_of(*make<LayerNorm>(4, LayerNormOptions{.bias = false})),
            "weight(4,) ");
  EXPECT_EQ(names_and_shapes_of(*make<LayerNorm>(4, LayerNormOptions{.affine = false})), "");
}

TEST(RMSNorm, divides_rows_by_their_root_mean_square) {
  const auto layer = make<RMSNorm>(2, RMSNormOptions{.eps = 0.5});
  layer->load_state_dict({{"weight", tensor<float>({1, 10})}});
  const auto y = layer(from_values<float>({3, 4}, {1, 2})).to_vector<float>();
  EXPECT_NEAR(y[0], 3 / std::sqrt(13), 1e-6);
  EXPECT_NEAR(y[1], 40 / std::sqrt(13), 1e-5);
}

TEST(RMSNorm, takes_several_dims_together) {
  const auto rows = make<RMSNorm>(6);
  const auto matrices = make<RMSNorm>(Shape{2, 3}, RMSNormOptions{.eps = 2});
  EXPECT_EQ(text_of(*matrices), "RMSNorm((2, 3), eps=2.0, elementwise_affine=True)");
  EXPECT_EQ(text_of(*rows), "RMSNorm((6,), eps=None, elementwise_affine=True)");
  const auto plain = make<RMSNorm>(Shape{2, 3});
  const Tensor x = from_values<float>({1, 2, 3, 4, 5, 6, 0, 1, 0, 0, 2, 0}, {2, 2, 3});
  EXPECT_EQ(plain(x).to_vector<float>(), rows(reshape(x, {2, 6})).to_vector<float>());
  EXPECT_EQ(plain(x).shape(), x.shape());
  EXPECT_THROW(plain(ones({3, 2})), InvalidArgument);
  EXPECT_THROW(make<RMSNorm>(Shape{}), InvalidArgument);
}

TEST(Dropout, acts_in_training_alone) {
  set_seed(2);
  const auto layer = make<Dropout>(0.25);
  const Tensor x = ones({100, 100});
  const auto y = layer(x).to_vector<float>();
  const auto dropped = std::count(y.begin(), y.end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 200);
  EXPECT_NEAR(*std::max_element(y.begin(), y.end()), 1 / 0.75, 1e-6);
  EXPECT_NE(layer(x).to_vector<float>(), y);
  layer->eval();
  EXPECT_TRUE(layer(x).is(x));
  EXPECT_THROW(make<Dropout>(1.5), InvalidArgument);
}

TEST(Sequential, hands_outputs_on) {
  struct Stack : Module {
    Child<Sequential> layers{this, "layers"};
    Stack() {
      layers->add<Linear>(2, 3);
      layers->add<LayerNorm>(3);
      layers->add<Linear>(3, 1, LinearOptions{.bias = false});
    }
    [[nodiscard]] Tensor forward(const Tensor& x) const { return layers(x); }
  };
  const auto stack = make<Stack>();
  EXPECT_EQ(names_and_shapes_of(*stack),
            "layers.0.weight(3, 2) layers.0.bias(3,) layers.1.weight(3,) layers.1.bias(3,) "
            "layers.2.weight(1, 3) ");
  const Tensor x = from_values<float>({1, 2, 3, 4}, {2, 2});
  const auto child = [&](const char* path, const Tensor& in) {
    return stack->get_submodule(path)(in);
  };
  const Tensor expected = child("layers.2", child("layers.1", child("layers.0", x)));
  EXPECT_EQ(stack(x).to_vector<float>(), expected.to_vector<float>());
}

TEST(CrossEntropyLoss, is_the_mean_over_rows) {
  const auto loss = make<CrossEntropyLoss>();
  const Tensor logits = from_values<float>({0, 0, 0, std::log(3.0F)}, {2, 2});
  const double expected = (std::log(2.0) - std::log(0.75)) / 2;
  EXPECT_NEAR(loss(logits, tensor<std::int64_t>({0, 1})).item(), expected, 1e-6);
}

}  // namespace
}  // namespace tessera::nn
