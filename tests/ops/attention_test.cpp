#include <tessera/core/ops/attention.h>

#include <gtest/gtest.h>

#include <limits>

#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/elements.h>

#include "ops/gradients.h"
#include "support/every_isa.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::Inputs;
using testing_support::numbers;

/// A result of the forward op, from the inputs q, k, v and the mask, if any, of its backward op.
InputSpec forward_result(std::size_t output, AttentionAttrs attrs, bool masked = false) {
  return derived([=](const std::vector<Tensor>& in) mutable {
    attrs.dtype = in[1].dtype();
    return call_all<Attention>({in[1], in[2], in[3], masked ? in[6] : Tensor()}, attrs)[output];
  });
}

void set_dtype(AttentionAttrs& attrs, DType dtype) {
  attrs.dtype = dtype;
}

constexpr AttentionAttrs kCausal{.causal = true};
constexpr AttentionAttrs kScaled{.scale = 0.3};
constexpr AttentionAttrs kDropout{.dropout = 0.3, .key = 9, .first_sample = 2};

const InputSpec kQ = real({4, 2, 3, 4});
const InputSpec kGrouped = real({4, 1, 5, 4});
const InputSpec kThreeHeads = real({1, 3, 2, 2});
const InputSpec kMask = real({3, 3}).constant();

const RegisterOpCase<Attention> kAttentionCase{{
    .samples = {{.inputs = {kQ, kQ, kQ, absent()}, .attrs = kCausal},
                {.inputs = {kQ, kGrouped, kGrouped, absent()}, .attrs = kScaled},
                {.inputs = {kQ, kQ, kQ, kMask}},
                {.inputs = {kQ, kQ, kQ, booleans({4, 1, 3, 3})}},
                {.inputs = {kQ, kQ, kQ, absent()}, .attrs = kDropout},
                {.inputs = {kThreeHeads, kThreeHeads, kThreeHeads, absent()}}},
    .wrong = {{.inputs = {kQ, kQ, kGrouped, absent()}},
              {.inputs = {kQ, real({4, 3, 3, 4}), real({4, 3, 3, 4}), absent()}},
              {.inputs = {kQ, kQ, integers({4, 2, 3, 4}, 0, 2), absent()}},
              {.inputs = {kQ, kQ, kQ, real({3, 2}).constant()}},
              {.inputs = {kQ, kQ, kQ, integers({3, 3}, 0, 2)}},
              {.inputs = {real({3, 4}), real({3, 4}), real({3, 4}), absent()}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_dtype,
    .set_microbatch = [](AttentionAttrs& attrs, int index,
                         int count) { attrs.first_sample += index * 4 / count; },
    .second_gradient = SecondGradient::refused,
    .gradient_outputs = 1,
}};

const RegisterOpCase<AttentionBackward> kAttentionBackwardCase{{
    .samples = {{.inputs = {kQ, kQ, kQ, kQ, forward_result(0, kCausal), forward_result(1, kCausal)},
                 .attrs = kCausal},
                {.inputs = {kQ, kQ, kGrouped, kGrouped, forward_result(0, kScaled),
                            forward_result(1, kScaled)},
                 .attrs = kScaled},
                {.inputs = {kQ, kQ, kQ, kQ, forward_result(0, {}, true),
                            forward_result(1, {}, true), kMask}},
                {.inputs = {kQ, kQ, kQ, kQ, forward_result(0, kDropout),
                            forward_result(1, kDropout)},
                 .attrs = kDropout},
                {.inputs = {kThreeHeads, kThreeHeads, kThreeHeads, kThreeHeads,
                            forward_result(0, {}), forward_result(1, {})}}},
    .wrong = {{.inputs = {real({3}), kQ, kQ, kQ, kQ, real({4, 2, 3})}},
              {.inputs = {kQ, kQ, kQ, kGrouped, kQ, real({4, 2, 3})}},
              {.inputs = {kQ, kQ, kQ, kQ, kQ, real({4, 2})}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_dtype,
    .set_microbatch = [](AttentionAttrs& attrs, int index,
                         int count) { attrs.first_sample += index * 4 / count; },
    .spreads_nan = true,
}};

constexpr PackedAttentionAttrs kPackedAttrs{
    .heads = 2, .kv_heads = 1, .attention = {.causal = true}};

const RegisterOpCase<PackedAttention> kPackedAttentionCase{{
    .samples = {{.inputs = {real({4, 3, 16})}, .attrs = kPackedAttrs}},
    .wrong = {{.inputs = {real({4, 3, 15})}, .attrs = kPackedAttrs},
              {.inputs = {real({4, 16})}, .attrs = kPackedAttrs},
              {.inputs = {integers({4, 3, 16}, 0, 2)}, .attrs = kPackedAttrs},
              {.inputs = {real({4, 3, 16})}, .attrs = {.heads = 3, .kv_heads = 2}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = [](PackedAttentionAttrs& attrs, DType dtype) { attrs.attention.dtype = dtype; },
    .second_gradient = SecondGradient::refused,
    .gradient_outputs = 1,
}};

InputSpec packed_result(std::size_t output) {
  return derived([=](const std::vector<Tensor>& in) {
    PackedAttentionAttrs attrs = kPackedAttrs;
    attrs.attention.dtype = in[1].dtype();
    return call_all<PackedAttention>({in[1]}, attrs)[output];
  });
}

const RegisterOpCase<PackedAttentionBackward> kPackedAttentionBackwardCase{{
    .samples = {{.inputs = {real({4, 3, 8}), real({4, 3, 16}), packed_result(0), packed_result(1)},
                 .attrs = kPackedAttrs}},
    .wrong = {{.inputs = {real({4, 3, 7}), real({4, 3, 16}), real({4, 3, 8}), real({4, 2, 3})},
               .attrs = kPackedAttrs},
              {.inputs = {real({4, 3, 8}), real({4, 3, 16}), real({4, 3, 8}), real({4, 2})},
               .attrs = kPackedAttrs}},
    .tolerance = {.of_largest = 4},
    .set_dtype = [](PackedAttentionAttrs& attrs, DType dtype) { attrs.attention.dtype = dtype; },
    .spreads_nan = true,
}};

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

/// Results of attention with queries of zeros, whose scores are the mask: y and the gradients of q,
/// k and v.
std::vector<Tensor> attention_to_mask(DType dtype, std::int64_t keys, const Tensor& mask,
                                      bool causal) {
  Inputs in{zeros({1, 2, 5, 4}, {.dtype = dtype})};
  for (std::uint64_t i = 1; i < 4; ++i) {
    in.push_back(cast(numbers({1, i == 3 ? 2 : 1, i == 3 ? 5 : keys, 4}, i), dtype));
  }
  for (int i = 0; i < 3; ++i) {
    in[static_cast<std::size_t>(i)].set_requires_grad(true);
  }
  const Tensor y = attention(in[0], in[1], in[2], {.causal = causal}, mask);
  sum(y * in[3]).backward();
  return {y.detach(), in[0].grad(), in[1].grad(), in[2].grad()};
}

void expect_mask_changes_nothing(DType dtype, DType of_mask, std::int64_t keys, double size) {
  SCOPED_TRACE(::testing::Message() << dtype << ", mask " << of_mask << " " << size);
  const bool causal = keys % 2 == 0;
  const auto want = attention_to_mask(DType::f64, keys, {}, causal);
  const Tensor mask = full({5, keys}, size, {.dtype = of_mask});
  const auto got = attention_to_mask(dtype, keys, mask, causal);
  const double tolerance = dtype == DType::f64 ? 1e-12 : dtype == DType::f32 ? 1e-5 : 0.05;
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(cast(got[i], DType::f64), want[i], tolerance);
  }
}

TEST(Attention, a_mask_of_one_number_changes_nothing) {
  on_every_isa([&](cpu::Isa) {
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
      for (const std::int64_t keys : {1, 5, 17, 64, 65, 200}) {
        for (const double size : {-1e3, -3e4, -1e9, -1e20, 1e30, -3.3e38}) {
          expect_mask_changes_nothing(dtype, DType::f32, keys, size);
          expect_mask_changes_nothing(dtype, DType::bf16, keys, size);
        }
        expect_mask_changes_nothing(dtype, dtype, keys, -3e4);
      }
    }
  });
}

/// Whether each query's result is nan where key or value 2 of 6 is.
std::vector<bool> queries_of_nan(DType dtype, bool in_value, bool causal, const Tensor& mask) {
  Inputs in;
  for (std::uint64_t i = 0; i < 3; ++i) {
    in.push_back(cast(numbers({1, 1, 6, 3}, i + 1), dtype));
  }
  store_as(in[in_value ? 2 : 1].get(), 2 * 3 + 1, std::nan(""));
  const auto y = attention(in[0], in[1], in[2], {.causal = causal}, mask).to_vector<double>();
  std::vector<bool> nan;
  for (std::size_t i = 0; i < 6; ++i) {
    nan.push_back(std::isnan(y[3 * i + (in_value ? 1 : 0)]));
  }
  return nan;
}

TEST(Attention, nan_behind_a_mask_is_seen_and_behind_the_diagonal_is_not) {
  Tensor visible = ones({6, 6}, {.dtype = DType::boolean});
  for (std::int64_t i = 0; i < 6; ++i) {
    store_as(visible.get(), i * 6 + 2, false);
  }
  const std::vector<bool> all(6, true), from_2{false, false, true, true, true, true};
  on_every_isa([&](cpu::Isa) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      const Tensor added = where(visible, zeros({6, 6}), -std::numeric_limits<double>::infinity());
      for (const bool in_value : {false, true}) {
        SCOPED_TRACE(::testing::Message() << dtype << (in_value ? " value" : " key"));
        EXPECT_EQ(queries_of_nan(dtype, in_value, false, visible), all);
        EXPECT_EQ(queries_of_nan(dtype, in_value, false, added), all);
        EXPECT_EQ(queries_of_nan(dtype, in_value, true, {}), from_2);
      }
    }
  });
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
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const Tensor qkv = matmul(x[0], p[0]);
        return testing_support::loss_of_samples(
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
