#include <tessera/core/ops/embedding_bag.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using Doubles = std::vector<double>;

InputSpec offsets() {
  return given({3}, {0, 2, 2}, DType::i64);
}

const RegisterOpCase<EmbeddingBag> kEmbeddingBagCase{{
    .samples = {{.inputs = {real({5, 4}), integers({4, 3}, 0, 5)}, .attrs = {.padding_idx = 2}},
                {.inputs = {real({5, 4}), integers({6}, 0, 5), offsets()}},
                {.inputs = {distinct({5, 4}), integers({4, 3}, 0, 5)},
                 .attrs = {.mode = BagMode::max}},
                {.inputs = {real({5, 4}), integers({6}, 0, 5), offsets(), real({6})},
                 .attrs = {.mode = BagMode::sum}},
                {.inputs = {real({5, 4}), integers({4, 2}, 0, 5), absent(), real({4, 2})},
                 .attrs = {.mode = BagMode::sum}}},
    .wrong = {{.inputs = {real({5, 4}), integers({4}, 0, 5)}},
              {.inputs = {real({5, 4}), integers({4, 2}, 0, 5), offsets()}},
              {.inputs = {real({5, 4}), integers({4, 2}, 5, 6)}},
              {.inputs = {real({5, 4}), integers({1}, 0, 5), offsets()}},
              {.inputs = {real({5, 4}), integers({4, 2}, 0, 5), absent(), real({4, 2})}},
              {.inputs = {real({5, 4}), real({4, 2})}},
              {.inputs = {complex({5, 4}), integers({4, 2}, 0, 5)}}},
    .second_gradient = SecondGradient::refused,
    .gradient_outputs = 1,
}};

const RegisterOpCase<EmbeddingBagBackward> kEmbeddingBagBackwardCase{{
    .samples = {{.inputs = {real({4, 4}), real({5, 4}), integers({4, 3}, 0, 5), absent(), absent(),
                            absent()}},
                {.inputs = {real({2, 4}), real({5, 4}), integers({2, 2}, 0, 5), absent(),
                            real({2, 2}), absent()},
                 .attrs = {.mode = BagMode::sum}},
                {.inputs = {real({2, 2}), real({5, 2}), integers({2, 3}, 0, 5), absent(), absent(),
                            given({2, 2}, {0, 2, 1, 1}, DType::i64)},
                 .attrs = {.mode = BagMode::max}}},
    .wrong = {{.inputs = {real({3, 4}), real({5, 4}), integers({4, 3}, 0, 5)}},
              {.inputs = {real({4, 4}), real({5, 4}), integers({4, 3}, 0, 5)},
               .attrs = {.mode = BagMode::max}}},
    .gradient = false,  // Unsupported: second derivatives of the bags
}};

Tensor table() {
  return from_values<double>({1, 2, 30, 4, 5, 60}, {3, 2});
}

TEST(EmbeddingBag, reduces_what_lies_between_offsets) {
  const Tensor ids = tensor<std::int64_t>({0, 1, 1, 2});
  const Tensor starts = tensor<std::int64_t>({0, 2, 2});
  const auto run = [&](BagMode mode) {
    return embedding_bag(table(), ids, starts, {.mode = mode}).to_vector<double>();
  };
  EXPECT_EQ(run(BagMode::sum), (Doubles{31, 6, 0, 0, 35, 64}));
  EXPECT_EQ(run(BagMode::mean), (Doubles{15.5, 3, 0, 0, 17.5, 32}));
  EXPECT_EQ(run(BagMode::max), (Doubles{30, 4, 0, 0, 30, 60}));
}

TEST(EmbeddingBag, the_last_offset_may_be_the_end) {
  const Tensor ids = tensor<std::int64_t>({0, 1, 1, 2});
  const Tensor ends = tensor<std::int64_t>({0, 1, 4});
  const BagAttrs options{.mode = BagMode::sum, .include_last_offset = true};
  EXPECT_EQ(embedding_bag(table(), ids, ends, options).to_vector<double>(),
            (Doubles{1, 2, 65, 68}));
}

TEST(EmbeddingBag, padding_does_not_count) {
  const Tensor ids = from_values<std::int64_t>({0, 1, 1, 1}, {2, 2});
  for (const BagMode mode : {BagMode::mean, BagMode::max}) {
    EXPECT_EQ(embedding_bag(table(), ids, {}, {.mode = mode, .padding_idx = 1}).to_vector<double>(),
              (Doubles{1, 2, 0, 0}));
  }
}

TEST(EmbeddingBag, offsets_must_rise_from_0_and_stay_inside) {
  const Tensor ids = tensor<std::int64_t>({0, 1});
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{1, 2}, {0, 3}, {0, 2, 1}, {0, -1}}) {
    const Tensor starts = from_values(std::span(wrong), {static_cast<std::int64_t>(wrong.size())});
    EXPECT_THROW(static_cast<void>(embedding_bag(table(), ids, starts)), InvalidArgument);
  }
}

TEST(EmbeddingBag, bits_do_not_depend_on_passes) {
  const Tensor ids = from_values<std::int64_t>(
      {0, 1, 2, 2, 1, 0, 0, 0, 1, 2, 1, 1, 2, 0, 2, 2, 0, 1, 1, 1, 2, 0, 1, 2}, {8, 3});
  testing_support::expect_same_bits_for_all_passes(
      [](const testing_support::Inputs& p, const testing_support::Inputs& x) {
        return testing_support::loss_of_samples(embedding_bag(p[0], x[0]));
      },
      {testing_support::numbers({3, 5}, 1, DType::f32)}, {ids});
}

}  // namespace
}  // namespace tessera
