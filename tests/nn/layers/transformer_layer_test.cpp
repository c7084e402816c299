// Layers of encoders and decoders, beside what the comparison with PyTorch covers.
#include <gtest/gtest.h>

#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/layers/transformer_decoder.h>
#include <tessera/nn/layers/transformer_encoder.h>

namespace tessera::nn {
namespace {

const TransformerLayerOptions kSmall{.dim_feedforward = 12, .batch_first = true};

TEST(TransformerEncoderLayer, begins_of_a_causal_sequence_do_not_see_its_end) {
  const auto layer = make<TransformerEncoderLayer>(8, 2, kSmall);
  layer->eval();
  const Tensor x = randn({2, 6, 8});
  const AttentionMasks causal{.is_causal = true};
  const Tensor begin = layer(slice(x, 1, 0, 4), causal);
  EXPECT_EQ(slice(layer(x, causal), 1, 0, 4).to_vector<float>(), begin.to_vector<float>());
  EXPECT_NE(slice(layer(x), 1, 0, 4).to_vector<float>(), begin.to_vector<float>());
}

TEST(TransformerEncoderLayer, stands_in_a_sequential) {
  const auto stack = make<Sequential>();
  stack->add<TransformerEncoderLayer>(8, 2, kSmall);
  stack->add<TransformerEncoderLayer>(8, 2, kSmall);
  stack->build();
  EXPECT_EQ(stack(randn({2, 6, 8})).shape(), (Shape{2, 6, 8}));
}

TEST(TransformerEncoderLayer, drops_in_training_alone) {
  const auto layer = make<TransformerEncoderLayer>(8, 2, kSmall);
  const Tensor x = randn({2, 6, 8});
  EXPECT_NE(layer(x).to_vector<float>(), layer(x).to_vector<float>());
  layer->eval();
  EXPECT_EQ(layer(x).to_vector<float>(), layer(x).to_vector<float>());
}

TEST(TransformerDecoderLayer, a_hidden_memory_is_of_no_account) {
  const auto layer = make<TransformerDecoderLayer>(8, 2, kSmall);
  layer->eval();
  const Tensor x = randn({1, 3, 8});
  const Tensor memory = randn({1, 5, 8});
  const Tensor hidden = from_values<bool>({false, false, false, true, true}, {1, 5});
  const Tensor y = layer(x, memory, AttentionMasks{}, AttentionMasks{.key_padding_mask = hidden});
  const Tensor seen = layer(x, slice(memory, 1, 0, 3));
  const auto a = y.to_vector<float>();
  const auto b = seen.to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-6);
  }
}

TEST(TransformerEncoder, layers_begin_with_values_of_their_own_and_are_copied) {
  const auto encoder = make<TransformerEncoder>(2, 8, 2, kSmall, true);
  EXPECT_NE(encoder->get_parameter("layers.0.linear1.weight").value().to_vector<float>(),
            encoder->get_parameter("layers.1.linear1.weight").value().to_vector<float>());
  encoder->eval();
  const auto copy = clone(encoder);
  const Tensor x = randn({2, 6, 8});
  EXPECT_EQ(copy(x).to_vector<float>(), encoder(x).to_vector<float>());
  copy->get_parameter("norm.weight").value().detach().copy_(zeros({8}));
  EXPECT_EQ(copy(x).to_vector<float>(), std::vector<float>(96, 0));
  EXPECT_NE(encoder(x).to_vector<float>(), std::vector<float>(96, 0));
}

TEST(TransformerEncoder, needs_a_layer) {
  EXPECT_THROW(make<TransformerEncoder>(0, 8, 2), ValueError);
  EXPECT_THROW(make<TransformerDecoder>(0, 8, 2), ValueError);
}

TEST(TransformerLayers, in_a_list_are_printed_once) {
  const auto list = make<ModuleList<TransformerEncoderLayer>>();
  for (int i = 0; i < 3; ++i) {
    list->add(8, 2, kSmall);
  }
  const std::string text = list->repr();
  EXPECT_EQ(text.find("ModuleList(\n  (0-2): 3 x TransformerEncoderLayer(\n    (self_attn): "), 0U);
  EXPECT_EQ(text.find("TransformerEncoderLayer"), text.rfind("TransformerEncoderLayer"));
}

}  // namespace
}  // namespace tessera::nn
