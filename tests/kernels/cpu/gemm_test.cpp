#include <algorithm>
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
using test::random_values;

const Product kProducts[] = {{1, 1, 1, false, false},     {1, 50, 33, false, true},
                             {13, 31, 7, false, false},   {64, 64, 64, true, false},
                             {37, 129, 515, false, true}, {530, 140, 300, true, true},
                             {12, 32, 1030, true, false}, {5, 3, 0, false, false}};

/// Factors and, in double, their product: computed once for all instruction sets.
struct KnownProduct {
  KnownProduct(const Product& shape, DType compute_in)
      : c(shape),
        compute(compute_in),
        a(random_values(c.m * c.k, 1)),
        b(random_values(c.k * c.n, 2)),
        bias(random_values(c.n, 3)) {
    const Matrix x = left(), y = right();
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        sums.push_back(sum(x, y, i, j));
      }
    }
  }
  [[nodiscard]] Matrix left() const { return matrix(a, c.a_transposed, c.m, c.k); }
  [[nodiscard]] Matrix right() const { return matrix(b, c.b_transposed, c.k, c.n); }

  Product c;
  DType compute;
  std::vector<float> a, b, bias;
  std::vector<double> sums;

 private:
  [[nodiscard]] double sum(const Matrix& x, const Matrix& y, std::int64_t i, std::int64_t j) const {
    double total = 0;
    for (std::int64_t k = 0; k < c.k; ++k) {
      float of_x = element<float>(x, i, k);
      float of_y = element<float>(y, k, j);
      if (compute == DType::bf16) {
        of_x = test::rounded(of_x);
        of_y = test::rounded(of_y);
      }
      total += static_cast<double>(of_x) * of_y;
    }
    return total;
  }
};

void compare_product(const KnownProduct& known, bool with_bias) {
  const Product& c = known.c;
  std::vector<float> out(static_cast<std::size_t>(c.m * c.n), 77.0F);
  Gemm g;
  g.m = c.m, g.n = c.n, g.k = c.k;
  g.a = known.left(), g.b = known.right();
  g.c = out.data();
  g.c_stride = c.n;
  g.bias = with_bias ? known.bias.data() : nullptr;
  g.compute = known.compute;
  gemm(g);
  const double tolerance = 1e-6 * std::sqrt(static_cast<double>(c.k) + 1) * 4;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const auto at = static_cast<std::size_t>(i * c.n + j);
      const double added = with_bias ? known.bias[static_cast<std::size_t>(j)] : 0.0;
      ASSERT_NEAR(out[at], known.sums[at] + added, tolerance)
          << "at " << i << ", " << j << " of " << c.m << " x " << c.n << " x " << c.k;
    }
  }
}

TEST(Gemm, EqualsSumInDouble) {
  for (const Product& c : kProducts) {
    for (const DType compute : {DType::f32, DType::bf16}) {
      const KnownProduct known(c, compute);
      test::on_every_isa([&](Isa isa) {
        SCOPED_TRACE(std::string(to_string(isa)));
        compare_product(known, false);
        compare_product(known, true);
      });
    }
  }
}

/// Every second float is one of `values`.
std::vector<float> interleaved(const std::vector<float>& values) {
  std::vector<float> wide(2 * values.size(), 77.0F);
  for (std::size_t i = 0; i < values.size(); ++i) {
    wide[2 * i] = values[i];
  }
  return wide;
}

TEST(Gemm, FactorsContiguousNeitherWayHaveTheBitsOfDenseOnes) {
  constexpr std::int64_t kM = 530, kN = 140, kK = 65;
  const auto a = random_values(kM * kK, 1), b = random_values(kK * kN, 2);
  const auto wide_a = interleaved(a), wide_b = interleaved(b);
  const auto product = [&](const Matrix& left, const Matrix& right, DType compute) {
    std::vector<float> c(kM * kN);
    Gemm g;
    g.m = kM, g.n = kN, g.k = kK, g.compute = compute;
    g.a = left, g.b = right;
    g.c = c.data(), g.c_stride = kN;
    gemm(g);
    return c;
  };
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const DType compute : {DType::f32, DType::bf16}) {
      const auto dense =
          product({a.data(), DType::f32, kK, 1}, {b.data(), DType::f32, kN, 1}, compute);
      const auto wide = product({wide_a.data(), DType::f32, 2 * kK, 2},
                                {wide_b.data(), DType::f32, 2 * kN, 2}, compute);
      EXPECT_TRUE(test::same_bits(wide, dense));
    }
  });
}

TEST(Gemm, ReadsAndWritesBf16) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t m = 29, n = 70, k = 601;
    for (const bool transposed : {false, true}) {
      const auto a = random_values<BFloat16>(m * k, 4);
      const auto b = random_values<BFloat16>(k * n, 5);
      std::vector<float> wide_a(a.begin(), a.end()), wide_b;
      std::vector<float> whole(static_cast<std::size_t>(m * n));
      std::vector<BFloat16> half(whole.size());
      Gemm g;
      g.m = m, g.n = n, g.k = k;
      g.a = transposed ? Matrix{a.data(), DType::bf16, 1, m} : Matrix{a.data(), DType::bf16, k, 1};
      g.b = transposed ? Matrix{b.data(), DType::bf16, 1, k} : Matrix{b.data(), DType::bf16, n, 1};
      g.compute = DType::bf16;
      g.c = whole.data();
      g.c_stride = n;
      gemm(g);
      g.c = half.data();
      g.c_dtype = DType::bf16;
      gemm(g);
      for (std::int64_t i = 0; i < m * n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(half[at].bits, BFloat16(whole[at]).bits);
      }
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        sum += static_cast<double>(static_cast<float>(
                   a[static_cast<std::size_t>(transposed ? i * m + 3 : 3 * k + i)])) *
               static_cast<float>(b[static_cast<std::size_t>(transposed ? 7 * k + i : i * n + 7)]);
      }
      EXPECT_NEAR(whole[static_cast<std::size_t>(3 * n + 7)], sum, 1e-4);
    }
  });
}

std::vector<float> weight_gradient(std::int64_t tokens, std::int64_t rows, std::int64_t columns,
                                   std::int64_t cuts, std::int64_t chunk, bool per_microbatch,
                                   DType compute, std::int64_t from = 0, std::int64_t total = 0) {
  total = total == 0 ? tokens : total;
  const auto dy = random_values(total * rows, 6);
  const auto x = random_values(total * columns, 7);
  std::vector<float> out(static_cast<std::size_t>(rows * columns * (per_microbatch ? cuts : 1)));
  Gemm g;
  g.m = rows, g.n = columns, g.k = tokens;
  g.a = {dy.data() + from * rows, DType::f32, 1, rows};
  g.b = {x.data() + from * columns, DType::f32, columns, 1};
  g.c = out.data();
  g.c_stride = columns;
  g.compute = compute;
  g.cuts = cuts;
  g.chunk = chunk;
  g.per_microbatch = per_microbatch;
  g.cut_stride = rows * columns;
  gemm(g);
  return out;
}

TEST(Gemm, CutsAreAddedAlongTheTree) {
  const std::int64_t rows = 50, columns = 70, part = 21;
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const DType compute : {DType::f32, DType::bf16}) {
      for (const std::int64_t cuts : {1, 2, 4, 8, 3, 6}) {
        const auto whole = weight_gradient(cuts * part, rows, columns, cuts, 0, false, compute);
        const auto pieces = weight_gradient(cuts * part, rows, columns, cuts, 0, true, compute);
        const auto piece = [&](std::int64_t i, std::size_t at) {
          return pieces[static_cast<std::size_t>(i * rows * columns) + at];
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
          float sum = piece(0, at);
          if (cuts == 2)
            sum = piece(0, at) + piece(1, at);
          if (cuts == 3)
            sum = (piece(0, at) + piece(1, at)) + piece(2, at);
          if (cuts >= 4)
            sum = (piece(0, at) + piece(1, at)) + (piece(2, at) + piece(3, at));
          if (cuts == 6)
            sum = sum + (piece(4, at) + piece(5, at));
          if (cuts == 8) {
            sum = sum + ((piece(4, at) + piece(5, at)) + (piece(6, at) + piece(7, at)));
          }
          ASSERT_EQ(whole[at], sum) << cuts << " cuts";
        }
        for (std::int64_t i = 0; i < cuts; ++i) {
          const auto alone =
              weight_gradient(part, rows, columns, 1, 0, false, compute, i * part, cuts * part);
          for (std::size_t at = 0; at < alone.size(); ++at) {
            ASSERT_EQ(alone[at], piece(i, at)) << "piece " << i << " of " << cuts;
          }
        }
      }
    }
  });
}

// Results of 4 MiB and more are written past the caches, where the address allows it.
TEST(Gemm, LargeSumsOfPiecesHaveTheBitsOfSmallOnes) {
  const std::int64_t rows = 1030, columns = 1040, tokens = 12, few = 7;
  const auto dy = random_values(tokens * rows, 17), x = random_values(tokens * columns, 18);
  const auto sums = [&](std::int64_t first, std::int64_t count, std::int64_t offset) {
    std::vector<float> out(static_cast<std::size_t>(offset + count * columns));
    Gemm g;
    g.m = count, g.n = columns, g.k = tokens;
    g.a = {dy.data() + first, DType::f32, 1, rows};
    g.b = {x.data(), DType::f32, columns, 1};
    g.c = out.data() + offset, g.c_stride = columns;
    g.cuts = 4;
    gemm(g);
    return std::vector<float>(out.begin() + offset, out.end());
  };
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t offset : {0, 1, 4, 16}) {
      const auto all = sums(0, rows, offset);
      for (const std::int64_t first : {std::int64_t{0}, std::int64_t{520}, rows - few}) {
        const auto part = sums(first, few, 0);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first * columns))
            << "rows from " << first << ", offset " << offset;
      }
    }
  });
}

TEST(Gemm, ChunksAreAddedInOrder) {
  const std::int64_t rows = 20, columns = 40;
  const auto whole = weight_gradient(100, rows, columns, 1, 32, false, DType::f32);
  std::vector<float> sum;
  for (std::int64_t begin = 0; begin < 100; begin += 32) {
    const std::int64_t count = std::min<std::int64_t>(32, 100 - begin);
    const auto part = weight_gradient(count, rows, columns, 1, 0, false, DType::f32, begin, 100);
    if (sum.empty()) {
      sum = part;
      continue;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += part[i];
    }
  }
  EXPECT_TRUE(test::same_bits(whole, sum));
}

TEST(Gemm, AccumulatesOntoWhatIsThere) {
  const auto a = random_values(40 * 300, 8);
  const auto b = random_values(300 * 50, 9);
  std::vector<float> fresh(40 * 50), onto(40 * 50, 0.5F);
  Gemm g{
      40,           50,         300, {a.data(), DType::f32, 300, 1}, {b.data(), DType::f32, 50, 1},
      fresh.data(), DType::f32, 50};
  gemm(g);
  g.c = onto.data();
  g.accumulate = true;
  gemm(g);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    EXPECT_EQ(onto[i], 0.5F + fresh[i]);
  }
}

TEST(Gemm, SameBitsForAnyNumberOfThreads) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const DType compute : {DType::f32, DType::bf16}) {
      std::vector<float> first;
      test::with_every_thread_count([&](int threads) {
        const auto now = weight_gradient(8192, 40, 64, 8, 256, false, compute);
        if (threads == 1) {
          first = now;
        }
        EXPECT_TRUE(test::same_bits(first, now)) << threads << " threads";
      });
    }
  });
}

TEST(Gemm, RowsDoNotDependOnTheirNumber) {
  const std::int64_t m = 600, n = 150, k = 700;
  const auto a = random_values(m * k, 10);
  const auto b = random_values(n * k, 11);
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const DType compute : {DType::f32, DType::bf16}) {
      std::vector<float> all(static_cast<std::size_t>(m * n)), one(static_cast<std::size_t>(n));
      Gemm g{m,          n,          k, {a.data(), DType::f32, k, 1}, {b.data(), DType::f32, 1, k},
             all.data(), DType::f32, n};
      g.compute = compute;
      gemm(g);
      for (const std::int64_t row : {0, 11, 12, 300, 599}) {
        g.m = 1;
        g.a.data = a.data() + row * k;
        g.c = one.data();
        gemm(g);
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_EQ(one[static_cast<std::size_t>(j)], all[static_cast<std::size_t>(row * n + j)]);
        }
      }
      g.a.data = a.data();
      for (g.m = 24; g.m < 37; ++g.m) {  // last rows of every number that a tile may have
        std::vector<float> few(static_cast<std::size_t>(g.m * n) + 1, -7);
        g.c = few.data();
        gemm(g);
        EXPECT_TRUE(std::equal(few.begin(), few.end() - 1, all.begin())) << g.m << " rows";
        EXPECT_EQ(few.back(), -7) << g.m << " rows";
      }
    }
  });
}

// The first rows of a product that is too large for the short way, and a product of them alone.
TEST(Gemm, SmallOnesHaveTheBitsOfLargeOnes) {
  constexpr std::int64_t kRows = 600, kColumns = 64, kDepth = 70, kMost = 26;
  const auto a = random_values(kRows * kDepth, 14), b = random_values(kDepth * kColumns, 15);
  const auto bias = random_values(kColumns, 16);
  const auto product = [&](std::int64_t m, bool a_transposed, bool b_transposed) {
    std::vector<float> c(static_cast<std::size_t>(m * kColumns));
    Gemm g;
    g.m = m, g.n = kColumns, g.k = kDepth;
    g.a = matrix(a, a_transposed, kRows, kDepth);
    g.b = matrix(b, b_transposed, kDepth, kColumns);
    g.c = c.data(), g.c_stride = kColumns;
    g.bias = bias.data();
    gemm(g);
    return c;
  };
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        auto large = product(kRows, a_transposed, b_transposed);
        for (std::int64_t m = kMost; m > 0; --m) {
          large.resize(static_cast<std::size_t>(m * kColumns));
          EXPECT_TRUE(test::same_bits(large, product(m, a_transposed, b_transposed))) << m;
        }
      }
    }
  });
}

TEST(Gemm, Batches) {
  const auto a = random_values(10 * 4 * 6, 12);
  const auto b = random_values(10 * 6 * 5, 13);
  std::vector<float> all(10 * 4 * 5), one(4 * 5);
  Gemm g{4,          5,          6, {a.data(), DType::f32, 6, 1}, {b.data(), DType::f32, 5, 1},
         all.data(), DType::f32, 5};
  gemm(GemmBatch{g, 10, 24, 30, 20});
  g.a.data = a.data() + 7 * 24;
  g.b.data = b.data() + 7 * 30;
  g.c = one.data();
  gemm(g);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + 7 * 20));
}

TEST(Gemm, RefusesUnequalCuts) {
  Gemm g;
  g.k = 10;
  g.cuts = 3;
  EXPECT_THROW(gemm(g), InvalidArgument);
}

}  // namespace
}  // namespace tessera::cpu
