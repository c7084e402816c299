// Attention with heads, beside what the comparison with PyTorch covers.
#include <tessera/nn/layers/multihead_attention.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/attention_mask.h>

#include "layers.h"
#include "ops/gradients.h"
#include "support/expect_close.h"

namespace tessera::nn {
namespace {

using testing_support::expect_close;
using testing_support::Inputs;
using testing_support::numbers;

constexpr double kNever = -std::numeric_limits<double>::infinity();

Ptr<MultiheadAttention> attention_in_f64(const MultiheadAttentionOptions& options = {}) {
  const auto layer = make<MultiheadAttention>(8, 2, options);
  layer->to(DType::f64);
  return layer;
}

TEST(MultiheadAttention, gives_the_same_with_weights_and_without) {
  const Tensor query = randn_f64({5, 3, 8});
  const Tensor memory = randn_f64({6, 3, 8});
  const Tensor hidden = causal_mask(5, 6);
  for (const bool more_keys : {false, true}) {
    const auto layer = attention_in_f64({.add_bias_kv = more_keys, .add_zero_attn = more_keys});
    for (const Tensor& mask : {Tensor(), hidden}) {
      const auto [y, weights] = layer(query, memory, memory, AttendOptions{.attn_mask = mask});
      const auto [alone, none] =
          layer(query, memory, memory, AttendOptions{.need_weights = false, .attn_mask = mask});
      expect_close(alone, y);
      EXPECT_FALSE(none.defined());
      EXPECT_EQ(weights.shape(), (Shape{3, 5, more_keys ? 8 : 6}));
    }
  }
}

TEST(MultiheadAttention, is_causal_hides_later_keys_but_not_added_ones) {
  const Tensor x = randn_f64({5, 3, 8});
  for (const bool more_keys : {false, true}) {
    const auto layer = attention_in_f64({.add_bias_kv = more_keys});
    for (const bool weighted : {false, true}) {
      const AttendOptions causal{.need_weights = weighted, .is_causal = true};
      const AttendOptions masked{.need_weights = weighted, .attn_mask = causal_mask(5, 5)};
      expect_close(layer(x, x, x, causal).first, layer(x, x, x, masked).first);
    }
  }
}

TEST(MultiheadAttention, masks_of_bools_and_of_numbers_mean_the_same) {
  const auto layer = attention_in_f64({.batch_first = true});
  const Tensor x = randn_f64({2, 3, 8});
  const Tensor hidden = from_values<bool>({false, true, false, false, false, true}, {2, 3});
  const Tensor added = from_values<double>({0, kNever, 0, 0, 0, kNever}, {2, 3});
  const auto [y, weights] = layer(x, x, x, AttendOptions{.key_padding_mask = hidden});
  expect_close(layer(x, x, x, AttendOptions{.key_padding_mask = added}).first, y);
  const auto shares = weights.to_vector<double>();
  EXPECT_EQ(shares[1], 0);  // of the first sample's query 0, key 1
  EXPECT_EQ(shares[9 + 2], 0);
  EXPECT_GT(shares[9 + 1], 0);
}

TEST(MultiheadAttention, weights_of_heads_sum_to_1_and_their_mean_is_the_average) {
  const auto layer = attention_in_f64();
  const Tensor x = randn_f64({4, 2, 8});
  const auto [y, each] = layer(x, x, x, AttendOptions{.average_attn_weights = false});
  EXPECT_EQ(each.shape(), (Shape{2, 2, 4, 4}));
  expect_close(sum(each, {3}), ones({2, 2, 4}, {.dtype = DType::f64}));
  expect_close(layer(x, x, x).second, mean(each, {1}));
}

TEST(MultiheadAttention, a_mask_that_is_trained_gets_a_gradient) {
  const auto layer = attention_in_f64();
  const Tensor x = randn_f64({4, 2, 8});
  const Tensor mask = zeros({4, 4}, {.dtype = DType::f64}).set_requires_grad(true);
  const auto y = layer(x, x, x, AttendOptions{.need_weights = false, .attn_mask = mask}).first;
  sum(y * randn_f64(y.shape())).backward();
  double moved = 0;
  for (const double g : mask.grad().to_vector<double>()) {
    moved += std::abs(g);
  }
  EXPECT_GT(moved, 1e-3);
  // A row's softmax does not change when all of its scores rise.
  for (const double g : sum(mask.grad(), {1}).to_vector<double>()) {
    EXPECT_NEAR(g, 0, 1e-12);
  }
}

TEST(MultiheadAttention, drops_weights_in_training_alone) {
  const auto layer = make<MultiheadAttention>(
      8, 2, MultiheadAttentionOptions{.dropout = 0.25, .batch_first = true});
  const Tensor x = randn({16, 20, 8});
  const AttendOptions each{.average_attn_weights = false};
  const auto count_zeros = [&] {
    const auto weights = layer(x, x, x, each).second.to_vector<float>();
    return static_cast<double>(std::ranges::count(weights, 0.0F)) /
           static_cast<double>(weights.size());
  };
  EXPECT_NEAR(count_zeros(), 0.25, 0.02);
  EXPECT_NE(layer(x, x, x, AttendOptions{.need_weights = false}).first.to_vector<float>(),
            layer(x, x, x, AttendOptions{.need_weights = false}).first.to_vector<float>());
  layer->eval();
  EXPECT_EQ(count_zeros(), 0);
}

/// The layer as a function of its parameters, to itself and to a memory.
void expect_same_bits_of_attention(const MultiheadAttentionOptions& options,
                                   const AttendOptions& asked) {
  const auto layer = make<MultiheadAttention>(6, 2, options);
  Inputs parameters;
  for (const Parameter& parameter : layer->parameters()) {
    parameters.push_back(numbers(parameter.shape(), 2, DType::f32));
  }
  const auto run = [&](const Inputs& p, const Inputs& in) {
    std::size_t next = 0;
    const Variables v = layer->v().map([&](const Tensor&) { return p[next++]; });
    const CallOptions own{.v = &v};
    const Tensor memory = in.size() > 1 ? in[1] : in[0];
    return testing_support::loss_of_samples(layer(in[0], memory, memory, asked, own).first);
  };
  testing_support::expect_same_bits_for_all_passes(run, parameters,
                                                   {numbers({8, 3, 6}, 1, DType::f32)});
  testing_support::expect_same_bits_for_all_passes(
      run, parameters, {numbers({8, 3, 6}, 1, DType::f32), numbers({8, 4, 6}, 3, DType::f32)});
}

TEST(MultiheadAttention, has_the_same_bits_for_all_passes) {
  const MultiheadAttentionOptions first{.batch_first = true};
  expect_same_bits_of_attention(first, {.need_weights = false, .is_causal = true});
  expect_same_bits_of_attention(first, {.need_weights = true});
  MultiheadAttentionOptions more = first;
  more.add_bias_kv = more.add_zero_attn = true;
  expect_same_bits_of_attention(more, {.need_weights = false});
}

TEST(MultiheadAttention, has_pytorchs_names) {
  const auto layer = make<MultiheadAttention>(
      8, 2, MultiheadAttentionOptions{.bias = false, .kdim = 6, .vdim = 4});
  EXPECT_EQ(layer->repr(),
            "MultiheadAttention(\n  (out_proj): NonDynamicallyQuantizableLinear(in_features=8, "
            "out_features=8, bias=False)\n)");
  EXPECT_EQ(layer->get_parameter("k_proj_weight").shape(), (Shape{8, 6}));
  EXPECT_THROW(static_cast<void>(layer->get_parameter("in_proj_weight")), AttributeError);
}

/// The parameters of `layer`, as they are registered.
AttentionWeights weights_of(const MultiheadAttention& layer) {
  return {.in_proj_weight = layer.in_proj_weight,
          .q_proj_weight = layer.q_proj_weight,
          .k_proj_weight = layer.k_proj_weight,
          .v_proj_weight = layer.v_proj_weight,
          .in_proj_bias = layer.in_proj_bias,
          .bias_k = layer.bias_k,
          .bias_v = layer.bias_v,
          .out_proj_weight = layer.out_proj->weight,
          .out_proj_bias = layer.out_proj->bias};
}

TEST(MultiheadAttention, as_a_function_of_its_weights_gives_the_same_bits) {
  const Tensor query = randn({5, 3, 8});
  const Tensor key = randn({6, 3, 6});
  const Tensor value = randn({6, 3, 4});
  const auto layer = make<MultiheadAttention>(
      8, 2, MultiheadAttentionOptions{.add_bias_kv = true, .kdim = 6, .vdim = 4});
  const auto [y, shown] = layer(query, key, value);
  const auto [same, also] =
      multi_head_attention_forward(query, key, value, weights_of(*layer), {.num_heads = 2});
  EXPECT_EQ(same.to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(also.to_vector<float>(), shown.to_vector<float>());
}

TEST(MultiheadAttention, without_a_batch_gives_what_a_batch_of_one_gives) {
  const Tensor query = randn_f64({5, 8});
  for (const auto& [kdim, vdim] : {std::pair{6, 4}, std::pair{4, 6}, std::pair{8, 8}}) {
    const Tensor key = randn_f64({6, kdim}), value = randn_f64({6, vdim});
    for (const bool batch_first : {false, true}) {
      const auto layer = attention_in_f64({.kdim = kdim, .vdim = vdim, .batch_first = batch_first});
      const int n = batch_first ? 0 : 1;
      const auto [y, shown] = layer(query, key, value);
      const auto [one, shown_of_one] =
          layer(unsqueeze(query, n), unsqueeze(key, n), unsqueeze(value, n));
      expect_close(y, squeeze(one, n));
      expect_close(shown, squeeze(shown_of_one, 0));
      EXPECT_THROW(layer(query, key, randn_f64({5, vdim})), InvalidArgument);
    }
  }
}

TEST(MultiheadAttention, refuses_weights_that_do_not_fit_each_other) {
  const Tensor x = randn({5, 3, 8});
  const AttentionWeights good = weights_of(*make<MultiheadAttention>(8, 2));
  const auto call = [&](const AttentionWeights& weights, std::int64_t heads) {
    static_cast<void>(multi_head_attention_forward(x, x, x, weights, {.num_heads = heads}));
  };
  EXPECT_NO_THROW(call(good, 2));
  EXPECT_THROW(call(good, 3), InvalidArgument);
  EXPECT_THROW(call({}, 2), InvalidArgument);
  for (Tensor AttentionWeights::*part :
       {&AttentionWeights::in_proj_weight, &AttentionWeights::in_proj_bias,
        &AttentionWeights::bias_k, &AttentionWeights::out_proj_weight,
        &AttentionWeights::out_proj_bias}) {
    AttentionWeights wrong = good;
    wrong.*part = randn({8, 7});
    EXPECT_THROW(call(wrong, 2), InvalidArgument);
  }
}

TEST(MultiheadAttention, refuses_numbers_that_cannot_be_meant) {
  EXPECT_THROW(make<MultiheadAttention>(8, 3), InvalidArgument);
  EXPECT_THROW(make<MultiheadAttention>(8, 2, MultiheadAttentionOptions{.dropout = 1.5}),
               ValueError);
  EXPECT_THROW(make<MultiheadAttention>(8, 2, MultiheadAttentionOptions{.kdim = 0}), ValueError);
}

TEST(MultiheadAttention, refuses_shapes_and_masks_that_do_not_fit) {
  const auto layer = make<MultiheadAttention>(8, 2);
  const Tensor x = randn({5, 3, 8});
  const auto call = [&](const Tensor& key, const AttendOptions& asked) {
    static_cast<void>(layer(x, key, key, asked));
  };
  EXPECT_THROW(call(randn({5, 3, 6}), {}), InvalidArgument);
  EXPECT_THROW(call(randn({5, 2, 8}), {}), InvalidArgument);
  EXPECT_THROW(call(randn({5, 8}), {}), InvalidArgument);
  EXPECT_THROW(call(x, {.key_padding_mask = zeros({5, 3}, {.dtype = DType::boolean})}),
               InvalidArgument);
  EXPECT_THROW(call(x, {.attn_mask = zeros({3, 5, 5}, {.dtype = DType::boolean})}),
               InvalidArgument);
  EXPECT_THROW(call(x, {.attn_mask = zeros({5, 5}, {.dtype = DType::i64})}), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
