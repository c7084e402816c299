// Products by oneDNN keep what the rest of the library promises of products.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/product_library.h>

#include "support.h"
#include "support/sweep.h"

namespace tessera::cpu {
namespace {

using test::random_values;

class OnednnProduct : public ::testing::Test {
 protected:
  void SetUp() override { set_product_provider(ProductProvider::onednn); }
  void TearDown() override { set_product_provider(before_); }

 private:
  ProductProvider before_ = product_provider();
};

/// Factors of C[m, n] and the ways in which they can lie in memory.
struct Factors {
  Factors(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool a_by_k, bool b_by_k)
      : m(rows), n(columns), k(depth), a(random_values(m * k, 1)), b(random_values(k * n, 2)) {
    a_matrix = a_by_k ? Matrix{a.data(), DType::f32, 1, m} : Matrix{a.data(), DType::f32, k, 1};
    b_matrix = b_by_k ? Matrix{b.data(), DType::f32, n, 1} : Matrix{b.data(), DType::f32, 1, k};
  }

  /// Columns [column, column + columns) of the first `rows` rows from `row` on.
  [[nodiscard]] std::vector<float> product(DType compute, std::int64_t row, std::int64_t rows,
                                           std::int64_t column, std::int64_t columns) const {
    std::vector<float> c(static_cast<std::size_t>(rows * columns));
    std::vector<BFloat16> half;
    Gemm g;
    g.m = rows, g.n = columns, g.k = k, g.compute = compute;
    g.a = a_matrix, g.b = b_matrix;
    if (compute == DType::bf16) {
      half = std::vector<BFloat16>(a.begin(), a.end());
      g.a.data = half.data() + row * a_matrix.row_stride, g.a.dtype = DType::bf16;
    } else {
      g.a.data = a.data() + row * a_matrix.row_stride;
    }
    g.b.data = b.data() + column * b_matrix.column_stride;
    g.c = c.data(), g.c_stride = columns;
    gemm(g);
    return c;
  }

  std::int64_t m, n, k;
  std::vector<float> a, b;
  Matrix a_matrix, b_matrix;
};

void expect_part(const std::vector<float>& whole, std::int64_t n, const std::vector<float>& part,
                 std::int64_t row, std::int64_t column, std::int64_t columns) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto r = static_cast<std::int64_t>(i) / columns;
    const auto c = static_cast<std::int64_t>(i) % columns;
    ASSERT_EQ(part[i], whole[static_cast<std::size_t>((row + r) * n + column + c)])
        << "row " << r << ", column " << c << " of a part from " << row << ", " << column;
  }
}

template <class Body>
void with_all_factors(std::int64_t m, std::int64_t n, std::int64_t k, const Body& body) {
  for (const bool a_by_k : {false, true}) {
    for (const bool b_by_k : {false, true}) {
      const Factors factors(m, n, k, a_by_k, b_by_k);
      for (const DType compute : {DType::f32, DType::bf16}) {
        SCOPED_TRACE(std::string(to_string(compute)) + (a_by_k ? ", A by k" : ", A by row") +
                     (b_by_k ? ", B by k" : ", B by column"));
        body(factors, compute);
      }
    }
  }
}

TEST_F(OnednnProduct, IsUsedWhereTheCpuHasAvx512) {
  EXPECT_EQ(library_for(DType::f32) != nullptr, best_isa() >= Isa::avx512);
  // Tile registers are ours alone.
  EXPECT_EQ(library_for(DType::bf16) != nullptr, best_isa() == Isa::avx512_bf16);
  set_product_provider(ProductProvider::own);
  EXPECT_EQ(library_for(DType::f32), nullptr);
}

TEST_F(OnednnProduct, RowsDoNotDependOnTheirNumber) {
  constexpr std::int64_t kRows = 300, kColumns = 50;
  with_all_factors(kRows, kColumns, 1100, [](const Factors& f, DType compute) {
    const auto whole = f.product(compute, 0, kRows, 0, kColumns);
    for (const int i : tessera::test::sampled(kRows, 30)) {
      const std::int64_t rows = i + 1;
      expect_part(whole, kColumns, f.product(compute, 0, rows, 0, kColumns), 0, 0, kColumns);
    }
    expect_part(whole, kColumns, f.product(compute, 37, 100, 0, kColumns), 37, 0, kColumns);
  });
}

TEST_F(OnednnProduct, ColumnsDoNotDependOnTheirNumber) {
  constexpr std::int64_t kRows = 20, kColumns = 900;
  with_all_factors(kRows, kColumns, 2100, [](const Factors& f, DType compute) {
    const auto whole = f.product(compute, 0, kRows, 0, kColumns);
    for (const std::int64_t columns : {1, 7, 64, 300, 450, 768}) {
      const std::int64_t column = kColumns - columns;
      expect_part(whole, kColumns, f.product(compute, 0, kRows, column, columns), 0, column,
                  columns);
    }
  });
}

TEST_F(OnednnProduct, ReadsAnyLayout) {
  const Factors by_row(40, 30, 1300, false, false);
  std::vector<float> wide(2 * by_row.a.size());
  for (std::size_t i = 0; i < by_row.a.size(); ++i) {
    wide[2 * i] = by_row.a[i];
  }
  std::vector<float> c(40 * 30);
  Gemm g;
  g.m = 40, g.n = 30, g.k = by_row.k;
  g.a = {wide.data(), DType::f32, 2 * by_row.k, 2};
  g.b = by_row.b_matrix;
  g.c = c.data(), g.c_stride = 30;
  gemm(g);
  EXPECT_TRUE(test::same_bits(c, by_row.product(DType::f32, 0, 40, 0, 30)));
}

TEST_F(OnednnProduct, SameBitsForAnyNumberOfThreads) {
  const Factors f(800, 500, 64, false, false);
  std::vector<float> first;
  test::with_every_thread_count([&](int threads) {
    const auto now = f.product(DType::f32, 0, 800, 0, 500);
    first = threads == 1 ? now : first;
    EXPECT_TRUE(test::same_bits(first, now)) << threads << " threads";
  });
}

}  // namespace
}  // namespace tessera::cpu
