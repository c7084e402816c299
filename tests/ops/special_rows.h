// Rows that hold infinities, nan, the largest and the smallest numbers, alone and among others:
// values and gradients of ops on rows against formulas in long doubles, in which nothing of this
// overflows, for rows of 1 to 33 (two of the longest vectors and one), on every instruction set.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/every_isa.h"

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::testing_support {

using Exact = long double;
using ExactLine = std::vector<Exact>;

/// A row's results, and the gradient of their sum weighted by `g`, whose terms are of size `terms`.
struct LineTruth {
  ExactLine y, dx;
  Exact terms = 1;
};
using LineFormula = std::function<LineTruth(const ExactLine& x, const ExactLine& g)>;

struct LineOp {
  const char* name;
  std::function<Tensor(const Tensor&)> op;
  LineFormula formula;
  double ulps = 64;  ///< of the arithmetic, beside four of the dtype
};

inline double largest_number(DType dtype) {
  return dtype == DType::f16    ? 65504
         : dtype == DType::bf16 ? 0x1.fep127
         : dtype == DType::f32  ? double{std::numeric_limits<float>::max()}
                                : std::numeric_limits<double>::max();
}
inline double ulp_in(DType dtype) {
  return dtype == DType::f16    ? 0x1p-11
         : dtype == DType::bf16 ? 0x1p-8
         : dtype == DType::f32  ? 0x1p-24
                                : 0x1p-53;
}
inline double smallest_in(DType dtype) {
  return dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
}

/// Every value alone, every value once among others, mixtures: a tensor of rows.
inline Tensor special_rows(DType dtype, std::int64_t columns) {
  const double inf = std::numeric_limits<double>::infinity();
  const double max = largest_number(dtype);
  const std::vector<double> special{inf,  -inf,  std::nan(""), max,   -max,
                                    0,    -0.0,  1e30,         -1e30, 1e-30,
                                    -1e9, -1e20, 3e4,          -1e4,  smallest_in(dtype)};
  std::mt19937_64 random(static_cast<std::uint64_t>(columns));
  const auto count = static_cast<std::int64_t>(special.size());
  Tensor x = empty({3 * count, columns}, {.dtype = dtype});
  for (std::int64_t row = 0; row < 3 * count; ++row) {
    const auto chosen = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
    for (std::int64_t j = 0; j < columns; ++j) {
      const double ordinary = static_cast<double>(random() % 256) / 64 - 2;
      const double own = special[static_cast<std::size_t>(row % count)];
      const std::size_t first = row % 2 == 0 ? 3 : 0;  // every other one holds nothing infinite
      const double some = special[first + random() % (special.size() - first)];
      const double any = random() % 2 == 0 ? some : ordinary;
      const bool is_own = row < count || (row < 2 * count && j == chosen);
      store_as(x.get(), row * columns + j, is_own ? own : row < 2 * count ? ordinary : any);
    }
  }
  return x;
}

inline double rounded_to(DType dtype, Exact value) {
  const Tensor x = empty({1}, {.dtype = dtype});
  store_as(x.get(), 0, static_cast<double>(value));
  return x.to_vector<double>()[0];
}

/// Wrong elements of a row: not near in units of the row's largest one, nor nan together.
inline std::string wrong_in(const ExactLine& want, const double* got, DType dtype, double ulps,
                            Exact terms) {
  double size = std::isfinite(terms) ? static_cast<double>(terms) : 0;
  for (const Exact value : want) {
    const double rounded = rounded_to(dtype, value);
    size = std::isfinite(rounded) ? std::max(size, std::abs(rounded)) : size;
  }
  std::string text;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double expected = rounded_to(dtype, want[i]);
    const double arithmetic = ulp_in(dtype == DType::f64 ? DType::f64 : DType::f32);
    const double slack = (ulps * arithmetic + 4 * ulp_in(dtype)) * size + 4 * smallest_in(dtype);
    const bool right = expected == got[i] || (std::isnan(expected) && std::isnan(got[i])) ||
                       std::abs(expected - got[i]) <= slack;
    if (!right) {
      text += " [" + std::to_string(i) + "] " + std::to_string(got[i]) + " for " +
              std::to_string(expected);
    }
  }
  return text;
}

inline void expect_lines(const LineOp& line, DType dtype, std::int64_t columns) {
  const Tensor x = special_rows(dtype, columns);
  Tensor leaf = x.detach();
  leaf.set_requires_grad(true);
  const Tensor y = line.op(leaf);
  Tensor g = empty(y.shape(), {.dtype = y.dtype()});
  for (std::int64_t i = 0; i < g.numel(); ++i) {
    store_as(g.get(), i, static_cast<double>(i * 29 % 64) / 64);
  }
  sum(y * g).backward();
  const std::vector<double> in = x.to_vector<double>();
  const std::vector<double> out = y.to_vector<double>();
  const std::vector<double> weight = g.to_vector<double>();
  const std::vector<double> gradient = leaf.grad().to_vector<double>();
  const auto n = static_cast<std::size_t>(columns);
  const std::size_t rows = in.size() / n;
  const std::size_t per_row = out.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const ExactLine from(in.begin() + row * n, in.begin() + (row + 1) * n);
    const ExactLine g_row(weight.begin() + row * per_row, weight.begin() + (row + 1) * per_row);
    const LineTruth truth = line.formula(from, g_row);
    const std::string wrong =
        wrong_in(truth.y, out.data() + row * per_row, y.dtype(), line.ulps, 0);
    const std::string wrong_gradient =
        wrong_in(truth.dx, gradient.data() + row * n, dtype, line.ulps, truth.terms);
    EXPECT_EQ(wrong + wrong_gradient, "")
        << line.name << " " << dtype << " " << cpu::to_string(cpu::active_isa()) << " of "
        << ::testing::PrintToString(from) << (wrong.empty() ? ", gradient" : "");
  }
}

inline void expect_everywhere(const LineOp& line, std::initializer_list<DType> dtypes) {
  test::on_every_isa([&](cpu::Isa) {
    for (const DType dtype : dtypes) {
      for (std::int64_t columns = 1; columns <= 33; ++columns) {
        expect_lines(line, dtype, columns);
      }
    }
  });
}

inline Exact dot_of(const ExactLine& a, const ExactLine& b) {
  Exact total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    total += a[i] * b[i];
  }
  return total;
}

}  // namespace tessera::testing_support
