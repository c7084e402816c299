// Rotary positions against complex numbers, and the property that they are made for.
#include <tessera/nn/layers/rotary_embedding.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/meta.h"

namespace tessera::nn {
namespace {

using testing_support::kMeta;

/// Places of the two numbers of pair i in a row of `dim`.
std::pair<std::size_t, std::size_t> places(std::size_t i, std::size_t dim, bool pairs) {
  return pairs ? std::pair(2 * i, 2 * i + 1) : std::pair(i, i + dim / 2);
}

/// Row t times e^(i angle): the paper's form (13), with complex numbers for pairs.
std::vector<double> rotated(const std::vector<double>& row, std::size_t t, double base,
                            bool pairs) {
  std::vector<double> result(row.size());
  for (std::size_t i = 0; i < row.size() / 2; ++i) {
    const auto [at, with] = places(i, row.size(), pairs);
    const double theta =
        1 / std::exp(std::log(base) * 2 * static_cast<double>(i) / static_cast<double>(row.size()));
    const auto z =
        std::complex(row[at], row[with]) * std::polar(1.0, static_cast<double>(t) * theta);
    result[at] = z.real();
    result[with] = z.imag();
  }
  return result;
}

void expect_rotated(const Tensor& x, const Tensor& y, std::size_t first, double base, bool pairs,
                    double tolerance) {
  const auto from = x.to_vector<double>();
  const auto to = y.to_vector<double>();
  const auto dim = static_cast<std::size_t>(x.size(-1));
  const auto steps = static_cast<std::size_t>(x.size(-2));
  for (std::size_t row = 0; row < from.size() / dim; ++row) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * dim);
    const auto expected = rotated({begin, begin + static_cast<std::ptrdiff_t>(dim)},
                                  first + row % steps, base, pairs);
    for (std::size_t d = 0; d < dim; ++d) {
      ASSERT_NEAR(to[row * dim + d], expected[d], tolerance) << "row " << row << ", number " << d;
    }
  }
}

TEST(RotaryEmbedding, rotates_halves_and_pairs_by_the_formula) {
  const Tensor x = randn({2, 3, 7, 8}, {.dtype = DType::f64});
  for (const bool pairs : {false, true}) {
    const auto rotary =
        make<RotaryEmbedding>(8, RotaryOptions{.base = 500, .max_positions = 1007, .pairs = pairs});
    expect_rotated(x, rotary(x), 0, 500, pairs, 1e-12);
    expect_rotated(x, rotary(x, 1000), 1000, 500, pairs, 1e-12);
  }
}

TEST(RotaryEmbedding, is_exact_to_the_last_places_far_out) {
  const auto rotary = make<RotaryEmbedding>(4, RotaryOptions{.max_positions = 100'000});
  rotary->to(DType::bf16);  // angles stay what they are
  const Tensor x = randn({1, 4});
  expect_rotated(x, rotary(x, 99'999), 99'999, 10'000, false, 1e-6);
}

TEST(RotaryEmbedding, products_of_rows_depend_on_their_distance_alone) {
  const Tensor q = expand(randn({1, 6}, {.dtype = DType::f64}), {9, 6});
  const Tensor k = expand(randn({1, 6}, {.dtype = DType::f64}), {9, 6});
  for (const bool pairs : {false, true}) {
    const auto rotary = make<RotaryEmbedding>(6, RotaryOptions{.pairs = pairs});
    const auto scores = matmul(rotary(q), rotary(k, 100), false, true).to_vector<double>();
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_NEAR(scores[i * 9 + j], scores[(i + 1) * 9 + j + 1], 1e-12);
      }
    }
    EXPECT_GT(std::abs(scores[0] - scores[1]), 1e-6);
  }
}

TEST(RotaryEmbedding, gradients_are_rotated_back) {
  const auto rotary = make<RotaryEmbedding>(4);
  const Tensor x = randn({5, 4}, {.dtype = DType::f64}).set_requires_grad(true);
  const Tensor upstream = randn({5, 4}, {.dtype = DType::f64});
  sum(rotary(x) * upstream).backward();
  expect_rotated(x.grad(), upstream, 0, 10'000, false, 1e-12);
}

TEST(RotaryEmbedding, rounds_16_bits_once) {
  const auto rotary = make<RotaryEmbedding>(8);
  const Tensor x = cast(randn({6, 8}), DType::bf16);
  const Tensor exact = rotary(cast(x, DType::f64));
  EXPECT_EQ(rotary(x).to_vector<float>(), cast(exact, DType::bf16).to_vector<float>());
}

TEST(RotaryEmbedding, has_no_state_and_says_what_it_is) {
  const auto rotary = make<RotaryEmbedding>(8, RotaryOptions{.max_positions = 16});
  EXPECT_TRUE(rotary->named_slots().empty());
  EXPECT_EQ(rotary->repr(), "RotaryEmbedding(8, base=10000.0, max_positions=16, pairs=False)");
  EXPECT_EQ(rotary(empty({2, 5, 8}, {.device = kMeta})).shape(), (Shape{2, 5, 8}));
}

TEST(RotaryEmbedding, refuses_what_it_cannot_rotate) {
  EXPECT_THROW(make<RotaryEmbedding>(7), ValueError);
  EXPECT_THROW(make<RotaryEmbedding>(0), ValueError);
  EXPECT_THROW(make<RotaryEmbedding>(8, RotaryOptions{.base = 0}), ValueError);
  EXPECT_THROW(make<RotaryEmbedding>(8, RotaryOptions{.max_positions = 0}), ValueError);
  const auto rotary = make<RotaryEmbedding>(8, RotaryOptions{.max_positions = 4});
  EXPECT_THROW(static_cast<void>(rotary(randn({5, 8}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(rotary(randn({2, 8}), -1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(rotary(randn({2, 6}))), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
