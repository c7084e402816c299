// Products of f64: the same tiles, plans and sums as those of f32, against long double.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <tessera/kernels/cpu/gemm.h>

#include "products.h"
#include "support.h"

namespace tessera::cpu {
namespace {

using test::element;
using test::matrix;
using test::Product;

/// With bits that f32 does not have.
std::vector<double> random_doubles(std::int64_t count, std::uint64_t seed) {
  const auto coarse = test::random_values<double>(count, seed);
  const auto fine = test::random_values<double>(count, seed + 100);
  std::vector<double> values(coarse);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] += 0x1p-24 * fine[i];
  }
  return values;
}

const Product kF64Products[] = {{1, 1, 1, false, false},    {1, 50, 33, false, true},
                                {13, 31, 7, false, false},  {64, 64, 64, true, false},
                                {37, 129, 515, true, true}, {530, 140, 300, false, true},
                                {5, 3, 0, false, false},    {12, 8, 385, true, false}};

Gemm product(const Product& c, const std::vector<double>& a, const std::vector<double>& b) {
  Gemm g;
  g.m = c.m, g.n = c.n, g.k = c.k;
  g.a = matrix(a, c.a_transposed, c.m, c.k);
  g.b = matrix(b, c.b_transposed, c.k, c.n);
  g.c_dtype = g.compute = DType::f64;
  g.c_stride = c.n;
  return g;
}

/// The product's elements in long double: computed once for all instruction sets.
std::vector<long double> long_sums(const Gemm& g) {
  std::vector<long double> sums;
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      long double sum = 0;
      for (std::int64_t k = 0; k < g.k; ++k) {
        sum += static_cast<long double>(element<double>(g.a, i, k)) * element<double>(g.b, k, j);
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

/// `g` with a bias or added to what is there, beside its sums.
void compare_f64_product(Gemm g, const std::vector<long double>& sums, bool with_bias,
                         bool accumulate) {
  const auto bias = random_doubles(g.n, 3);
  std::vector<double> out(sums.size(), 77.0);
  g.c = out.data();
  g.bias = with_bias ? bias.data() : nullptr;
  g.accumulate = accumulate;
  gemm(g);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      const auto at = static_cast<std::size_t>(i * g.n + j);
      const long double sum = sums[at] + (accumulate ? 77.0L : 0.0L) +
                              (with_bias ? bias[static_cast<std::size_t>(j)] : 0.0);
      ASSERT_NEAR(out[at], static_cast<double>(sum),
                  2e-16 * static_cast<double>(g.k + 1) + (accumulate ? 2e-14 : 0))
          << "at " << i << ", " << j << " of " << g.m << " x " << g.n << " x " << g.k;
    }
  }
}

TEST(GemmF64, EqualsSumInLongDouble) {
  for (const Product& c : kF64Products) {
    const auto a = random_doubles(c.m * c.k, 1), b = random_doubles(c.k * c.n, 2);
    const Gemm g = product(c, a, b);
    const auto sums = long_sums(g);
    test::on_every_isa([&](Isa isa) {
      SCOPED_TRACE(std::string(to_string(isa)));
      compare_f64_product(g, sums, false, false);
      compare_f64_product(g, sums, true, false);
      compare_f64_product(g, sums, false, true);
    });
  }
}

std::vector<double> weight_gradient_f64(std::int64_t first, std::int64_t tokens, std::int64_t cuts,
                                        bool per_microbatch) {
  constexpr std::int64_t kRows = 50, kColumns = 70, kTotal = 8 * 421;
  const auto dy = random_doubles(kTotal * kRows, 6), x = random_doubles(kTotal * kColumns, 7);
  Gemm g;
  g.m = kRows, g.n = kColumns, g.k = tokens;
  g.a = {dy.data() + first * kRows, DType::f64, 1, kRows};
  g.b = {x.data() + first * kColumns, DType::f64, kColumns, 1};
  g.c_dtype = g.compute = DType::f64;
  g.c_stride = kColumns;
  g.cuts = cuts, g.per_microbatch = per_microbatch, g.cut_stride = kRows * kColumns;
  std::vector<double> out(static_cast<std::size_t>(kRows * kColumns * (per_microbatch ? cuts : 1)));
  g.c = out.data();
  gemm(g);
  return out;
}

TEST(GemmF64, CutsAreAddedAlongTheTree) {
  constexpr std::int64_t kPart = 421;
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const auto whole = weight_gradient_f64(0, 4 * kPart, 4, false);
    const auto pieces = weight_gradient_f64(0, 4 * kPart, 4, true);
    const std::size_t size = whole.size();
    for (std::size_t at = 0; at < size; ++at) {
      ASSERT_EQ(whole[at],
                (pieces[at] + pieces[size + at]) + (pieces[2 * size + at] + pieces[3 * size + at]));
    }
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto alone = weight_gradient_f64(i * kPart, kPart, 1, false);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                             pieces.begin() + i * static_cast<std::int64_t>(size)));
    }
  });
}

TEST(GemmF64, SameBitsForAnyNumberOfThreadsAndRows) {
  const Product c{600, 150, 700, false, true};
  const auto a = random_doubles(c.m * c.k, 10), b = random_doubles(c.k * c.n, 11);
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<double> first;
    test::with_every_thread_count([&](int threads) {
      std::vector<double> out(static_cast<std::size_t>(c.m * c.n));
      Gemm g = product(c, a, b);
      g.c = out.data();
      gemm(g);
      first = threads == 1 ? out : first;
      EXPECT_TRUE(test::same_bits(first, out)) << threads << " threads";
    });
    for (const std::int64_t row : {0, 5, 6, 300, 599}) {
      std::vector<double> one(static_cast<std::size_t>(c.n));
      Gemm g = product(c, a, b);
      g.m = 1;
      g.a.data = a.data() + row * c.k;
      g.c = one.data();
      gemm(g);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), first.begin() + row * c.n)) << "row " << row;
    }
  });
}

TEST(GemmF64, IsNotMixedWithF32) {
  const std::vector<float> a(4);
  std::vector<double> c(4);
  Gemm g{2, 2, 2, {a.data(), DType::f32, 2, 1}, {a.data(), DType::f32, 2, 1}, c.data()};
  g.c_dtype = g.compute = DType::f64;
  g.c_stride = 2;
  EXPECT_THROW(gemm(g), InvalidArgument);
}

}  // namespace
}  // namespace tessera::cpu
