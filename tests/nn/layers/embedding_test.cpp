#include <tessera/nn/layers/embedding.h>

#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/embedding_bag.h>

#include "support/values.h"

namespace tessera::nn {
namespace {

using testing_support::Floats;

TEST(Embedding, a_padding_row_begins_as_0_and_gets_no_gradient) {
  const auto layer = make<Embedding>(3, 2, EmbeddingOptions{.padding_idx = -1});
  EXPECT_EQ(layer->repr(), "Embedding(3, 2, padding_idx=2)");
  const Floats weight = layer->weight.value().to_vector<float>();
  EXPECT_EQ(Floats(weight.begin() + 4, weight.end()), (Floats{0, 0}));
  EXPECT_NE(weight[0], 0);
  sum(layer(tensor<std::int64_t>({2, 0, 0}))).backward();
  EXPECT_EQ(layer->weight.grad().to_vector<float>(), (Floats{2, 2, 0, 0, 0, 0}));
}

TEST(Embedding, refuses_what_is_no_row) {
  EXPECT_THROW(make<Embedding>(3, 2, EmbeddingOptions{.padding_idx = 3}), ValueError);
  EXPECT_THROW(make<Embedding>(3, 2, EmbeddingOptions{.padding_idx = -4}), ValueError);
  EXPECT_THROW(make<Embedding>(0, 2), ValueError);
}

TEST(EmbeddingBag, reduces_bags) {
  const auto layer = make<EmbeddingBag>(
      4, 2, EmbeddingBagOptions{.mode = BagMode::sum, .weight_init = init::constant(3)});
  EXPECT_EQ(layer->repr(), "EmbeddingBag(4, 2, mode='sum')");
  EXPECT_EQ(layer(from_values<std::int64_t>({0, 1, 2, 3}, {2, 2})).to_vector<float>(),
            (Floats(4, 6)));
  const Tensor ids = tensor<std::int64_t>({0, 1, 2});
  const Tensor starts = tensor<std::int64_t>({0, 1});
  EXPECT_EQ(layer(ids, starts).to_vector<float>(), (Floats{3, 3, 6, 6}));
  EXPECT_EQ(layer(ids, starts, tensor<float>({2, 1, 0.5F})).to_vector<float>(),
            (Floats{6, 6, 4.5F, 4.5F}));
}

TEST(EmbeddingBag, padding_gets_no_gradient) {
  const auto layer =
      make<EmbeddingBag>(3, 1, EmbeddingBagOptions{.mode = BagMode::max, .padding_idx = 0});
  EXPECT_EQ(layer->repr(), "EmbeddingBag(3, 1, mode='max', padding_idx=0)");
  layer->load_state_dict({{"weight", from_values<float>({9, 1, 2}, {3, 1})}});
  const Tensor y = layer(from_values<std::int64_t>({0, 1, 2, 0, 0, 0}, {2, 3}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{2, 0}));
  sum(y).backward();
  EXPECT_EQ(layer->weight.grad().to_vector<float>(), (Floats{0, 0, 1}));
}

TEST(EmbeddingBag, refuses_weights_of_ids_in_means) {
  const auto layer = make<EmbeddingBag>(4, 2);
  EXPECT_EQ(layer->repr(), "EmbeddingBag(4, 2, mode='mean')");
  const Tensor ids = tensor<std::int64_t>({0, 1});
  EXPECT_THROW(layer(ids, tensor<std::int64_t>({0}), ones({2})), Unsupported);
  EXPECT_THROW(layer(ids), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
