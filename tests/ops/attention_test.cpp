#include <tessera/core/ops/attention.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/softmax.h>

#include "ops/gradients.h"

namespace tessera {
namespace {

using testing::expect_gradients;
using testing::Inputs;
using testing::numbers;

void expect_near(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
  ASSERT_EQ(a.shape(), b.shape());
  const std::vector<double> x = a.to_vector<double>();
  const std::vector<double> y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i], y[i], tolerance) << i;
  }
}

/// 0 where query i sees key j <= i, else -1000, which is as good as minus infinity here.
Tensor causal_mask(std::int64_t time) {
  Tensor mask = zeros({time, time}, {.dtype = DType::f64});
  for (std::int64_t i = 0; i < time; ++i) {
    for (std::int64_t j = i + 1; j < time; ++j) {
      mask.data<double>()[i * time + j] = -1000;
    }
  }
  return mask;
}

TEST(Attention, equals_products_of_matrices_and_softmax) {
  const Tensor q = numbers({2, 3, 5, 4}, 1);
  const Tensor k = numbers({2, 3, 5, 4}, 2);
  const Tensor v = numbers({2, 3, 5, 4}, 3);
  const Tensor scores = matmul(q, k, false, true) * 0.5;
  expect_near(attention(q, k, v), matmul(softmax(scores, -1), v));
  const Tensor masked = softmax(scores + causal_mask(5), -1);
  expect_near(attention(q, k, v, {.causal = true}), matmul(masked, v));
  expect_near(attention(q, k, v, {}, causal_mask(5)), matmul(masked, v));
}

TEST(Attention, gradients) {
  const Inputs inputs{numbers({2, 4, 3, 2}, 1), numbers({2, 2, 3, 2}, 2), numbers({2, 2, 3, 2}, 3)};
  const Tensor mask = causal_mask(3);
  expect_gradients([&](const Inputs& x) { return attention(x[0], x[1], x[2]); }, inputs);
  expect_gradients([&](const Inputs& x) { return attention(x[0], x[1], x[2], {}, mask); }, inputs);
  expect_gradients(
      [&](const Inputs& x) { return attention(x[0], x[1], x[2], {.causal = true, .scale = 0.3}); },
      inputs);
}

TEST(Attention, keys_may_outnumber_queries) {
  const Inputs inputs{numbers({1, 2, 2, 3}, 1), numbers({1, 1, 5, 3}, 2), numbers({1, 1, 5, 3}, 3)};
  expect_gradients([](const Inputs& x) { return attention(x[0], x[1], x[2]); }, inputs);
}

TEST(Attention, a_query_that_sees_no_key_gives_zeros) {
  const Tensor mask = from_values<bool>({false, false, true, false}, {2, 2});
  const Tensor x = numbers({1, 1, 2, 3}, 1);
  const std::vector<double> y = attention(x, x, x, {}, mask).to_vector<double>();
  EXPECT_EQ(std::vector<double>(y.begin(), y.begin() + 3), std::vector<double>(3, 0));
}

TEST(Attention, gradients_with_dropout) {
  const Inputs inputs{numbers({2, 2, 4, 2}, 1), numbers({2, 1, 4, 2}, 2), numbers({2, 1, 4, 2}, 3)};
  expect_gradients(
      [](const Inputs& x) {
        begin_random_pass();
        return attention(x[0], x[1], x[2], {.causal = true, .dropout = 0.4});
      },
      inputs);
}

TEST(PackedAttention, equals_attention_on_the_parts) {
  const std::int64_t time = 4;
  const std::int64_t size = 3;
  const Tensor qkv = numbers({2, time, 4 * size}, 1);  // two heads, one of keys and values
  const Tensor y = packed_attention(qkv, 2, 1, {.causal = true});
  const auto part = [&](std::int64_t first, std::int64_t heads) {
    Tensor x = qkv.detach();
    x.get().shape = {2, heads, time, size};
    x.get().strides = {time * 4 * size, size, 4 * size, 1};
    x.get().offset = first * size;
    return x;
  };
  const Tensor expected = attention(part(0, 2), part(2, 1), part(3, 1), {.causal = true});
  Tensor heads = y.detach();
  heads.get().shape = {2, 2, time, size};
  heads.get().strides = {time * 2 * size, size, 2 * size, 1};
  expect_near(heads, expected, 0);
}

TEST(PackedAttention, gradients) {
  expect_gradients([](const Inputs& x) { return packed_attention(x[0], 2, 1, {.causal = true}); },
                   {numbers({2, 3, 8}, 1)});
}

TEST(PackedAttention, bits_do_not_depend_on_passes) {
  testing::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const Tensor qkv = matmul(x[0], p[0]);
        return testing::loss_of_samples(
            packed_attention(qkv, 2, 2, {.causal = true, .dropout = 0.2}));
      },
      {numbers({3, 12}, 2, DType::f32)}, {numbers({8, 4, 3}, 1, DType::f32)});
}

TEST(Attention, names_what_does_not_fit) {
  const Tensor q = zeros({1, 3, 2, 4});
  const Tensor k = zeros({1, 2, 2, 4});
  EXPECT_THROW(static_cast<void>(attention(q, k, k)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(attention(q, q, k)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(attention(q, q, q, {}, zeros({3, 2}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(packed_attention(zeros({1, 2, 7}), 1, 1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(attention(q, q, q, {.dropout = 2})), InvalidArgument);
}

}  // namespace
}  // namespace tessera
