
#include <cmath>
#include <string>

#include <tessera/kernels/cpu/norm.h>

#include <gtest/gtest.h>

#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/row_sums.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

constexpr float kEpsilon = 1e-5F;

struct Data {
  std::int64_t rows, columns;
  bool centered;
  std::vector<float> x, dy, scale, shift;
};

Data make(std::int64_t rows, std::int64_t columns, bool centered) {
  return {rows,
          columns,
          centered,
          random_values(rows * columns, 1, 2.0F),
          random_values(rows * columns, 2),
          random_values(columns, 3),
          random_values(columns, 4)};
}

struct NormResult {
  test::AlignedFloats y, dx;
  std::vector<float> mean, inverse, dscale, dshift;
};

NormResult run_norm(const Data& d, std::int64_t cuts = 1, bool per_microbatch = false) {
  const auto rows = static_cast<std::size_t>(d.rows);
  const auto out = static_cast<std::size_t>(d.columns * (per_microbatch ? cuts : 1));
  NormResult r{test::AlignedFloats(d.x.size()), test::AlignedFloats(d.x.size()),
               std::vector<float>(rows),        std::vector<float>(rows),
               std::vector<float>(out),         std::vector<float>(out)};
  NormForward f;
  f.rows = d.rows, f.columns = d.columns, f.epsilon = kEpsilon, f.centered = d.centered;
  f.x = d.x.data(), f.scale = d.scale.data(), f.shift = d.centered ? d.shift.data() : nullptr;
  f.y = r.y.data(), f.mean = d.centered ? r.mean.data() : nullptr, f.inverse = r.inverse.data();
  norm_forward(f);
  NormBackward b;
  b.rows = d.rows, b.columns = d.columns, b.centered = d.centered, b.cuts = cuts;
  b.x = d.x.data(), b.dy = d.dy.data(), b.scale = d.scale.data(), b.mean = r.mean.data();
  b.inverse = r.inverse.data(), b.dx = r.dx.data(), b.dscale = r.dscale.data();
  b.dshift = d.centered ? r.dshift.data() : nullptr;
  b.per_microbatch = per_microbatch;
  norm_backward(b);
  return r;
}

struct Row {
  double mean = 0, inverse = 0;
};

Row statistics(const Data& d, std::int64_t row) {
  Row s;
  double square = 0;
  for (std::int64_t j = 0; j < d.columns && d.centered; ++j) {
    s.mean += d.x[static_cast<std::size_t>(row * d.columns + j)];
  }
  s.mean /= static_cast<double>(d.columns);
  for (std::int64_t j = 0; j < d.columns; ++j) {
    square += std::pow(d.x[static_cast<std::size_t>(row * d.columns + j)] - s.mean, 2);
  }
  s.inverse = 1 / std::sqrt(square / static_cast<double>(d.columns) + kEpsilon);
  return s;
}

void compare_norm(const Data& d) {
  const NormResult r = run_norm(d);
  std::vector<double> dscale(d.scale.size()), dshift(d.scale.size());
  for (std::int64_t row = 0; row < d.rows; ++row) {
    const Row s = statistics(d, row);
    double average = 0, product = 0;
    const auto at = [&](std::int64_t j) { return static_cast<std::size_t>(row * d.columns + j); };
    const auto normal = [&](std::int64_t j) { return (d.x[at(j)] - s.mean) * s.inverse; };
    for (std::int64_t j = 0; j < d.columns; ++j) {
      const auto c = static_cast<std::size_t>(j);
      const double shift = d.centered ? d.shift[c] : 0.0;
      ASSERT_NEAR(r.y[at(j)], normal(j) * d.scale[c] + shift, 4e-6);
      average += static_cast<double>(d.dy[at(j)]) * d.scale[c];
      product += d.dy[at(j)] * d.scale[c] * normal(j);
      dscale[c] += d.dy[at(j)] * normal(j);
      dshift[c] += d.dy[at(j)];
    }
    const double size = static_cast<double>(d.columns);
    for (std::int64_t j = 0; j < d.columns; ++j) {
      const double g = static_cast<double>(d.dy[at(j)]) * d.scale[static_cast<std::size_t>(j)];
      const double mean = d.centered ? average / size : 0.0;
      ASSERT_NEAR(r.dx[at(j)], s.inverse * (g - mean - normal(j) * product / size), 1e-5);
    }
  }
  for (std::size_t j = 0; j < dscale.size(); ++j) {
    ASSERT_NEAR(r.dscale[j], dscale[j], 1e-4);
    ASSERT_NEAR(r.dshift[j], d.centered ? dshift[j] : 0.0, 1e-4);
  }
}

TEST(Norm, EqualsDouble) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const bool centered : {true, false}) {
      for (const std::int64_t columns : {4, 7, 33, 768}) {
        compare_norm(make(100, columns, centered));
      }
    }
  });
}

TEST(Norm, RowsDoNotDependOnTheirNeighbours) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t columns : {5, 48, 700}) {
      const Data d = make(90, columns, true);
      const NormResult whole = run_norm(d);
      for (std::int64_t row = 0; row < 90; ++row) {
        Data one = make(1, columns, true);
        std::copy_n(d.x.begin() + row * columns, columns, one.x.begin());
        std::copy_n(d.dy.begin() + row * columns, columns, one.dy.begin());
        const NormResult alone = run_norm(one);
        ASSERT_TRUE(std::equal(alone.y.begin(), alone.y.end(), whole.y.begin() + row * columns));
        ASSERT_TRUE(std::equal(alone.dx.begin(), alone.dx.end(), whole.dx.begin() + row * columns));
        ASSERT_EQ(alone.mean[0], whole.mean[static_cast<std::size_t>(row)]);
      }
    }
  });
}

TEST(Norm, LargeResultsHaveTheSameBits) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t few = 64, many = 64 * 130, columns = 768;
    const Data d = make(few, columns, true);
    Data large = d;
    large.rows = many;
    for (std::int64_t i = few; i < many; i += few) {
      large.x.insert(large.x.end(), d.x.begin(), d.x.end());
      large.dy.insert(large.dy.end(), d.dy.begin(), d.dy.end());
    }
    ASSERT_TRUE(outlives_caches(many * columns * std::int64_t{sizeof(float)}));
    const NormResult a = run_norm(d), b = run_norm(large);
    EXPECT_TRUE(std::equal(a.y.rbegin(), a.y.rend(), b.y.rbegin()));
    EXPECT_TRUE(std::equal(a.dx.rbegin(), a.dx.rend(), b.dx.rbegin()));
  });
}

TEST(Norm, GradientsOfParametersFollowTheTree) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const Data d = make(8 * 45, 50, true);
    const NormResult whole = run_norm(d, 8), pieces = run_norm(d, 8, true);
    for (std::size_t j = 0; j < 50; ++j) {
      const auto p = [&](std::size_t i) { return pieces.dscale[i * 50 + j]; };
      const float sum = ((p(0) + p(1)) + (p(2) + p(3))) + ((p(4) + p(5)) + (p(6) + p(7)));
      ASSERT_EQ(whole.dscale[j], sum);
    }
    Data third = make(45, 50, true);
    std::copy_n(d.x.begin() + 2 * 45 * 50, 45 * 50, third.x.begin());
    std::copy_n(d.dy.begin() + 2 * 45 * 50, 45 * 50, third.dy.begin());
    const NormResult alone = run_norm(third);
    EXPECT_TRUE(
        std::equal(alone.dshift.begin(), alone.dshift.end(), pieces.dshift.begin() + 2 * 50));
    EXPECT_TRUE(std::equal(alone.dx.begin(), alone.dx.end(), whole.dx.begin() + 2 * 45 * 50));
    EXPECT_TRUE(std::equal(alone.y.begin(), alone.y.end(), whole.y.begin() + 2 * 45 * 50));
  });
}

TEST(Norm, SameBitsForAnyNumberOfThreads) {
  const Data d = make(4 * 700, 65, true);
  std::vector<NormResult> results;
  test::with_every_thread_count([&](int) { results.push_back(run_norm(d, 4)); });
  for (const NormResult& r : results) {
    EXPECT_TRUE(test::same_bits(r.dscale, results[0].dscale));
    EXPECT_TRUE(test::same_bits(r.dx, results[0].dx));
  }
}

TEST(Norm, HalfPrecisionRoundsTheResult) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const Data d = make(9, 70, true);
    std::vector<BFloat16> x(d.x.begin(), d.x.end()), y(d.x.size());
    const std::vector<float> wide(x.begin(), x.end());
    std::vector<float> expected(d.x.size());
    NormForward f;
    f.rows = 9, f.columns = 70, f.x = wide.data(), f.scale = d.scale.data(), f.y = expected.data();
    norm_forward(f);
    f.x = x.data(), f.y = y.data(), f.dtype = f.y_dtype = DType::bf16;
    norm_forward(f);
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i].bits, BFloat16(expected[i]).bits);
    }
  });
}

TEST(SumRows, IsASumByMicrobatch) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t rows = 4 * 70, columns = 37;
    const auto x = random_values(rows * columns, 9);
    std::vector<float> whole(37), pieces(4 * 37);
    sum_rows(DType::f32, x.data(), rows, columns, 4, false, whole.data());
    sum_rows(DType::f32, x.data(), rows, columns, 4, true, pieces.data());
    for (std::size_t j = 0; j < 37; ++j) {
      ASSERT_EQ(whole[j], (pieces[j] + pieces[37 + j]) + (pieces[74 + j] + pieces[111 + j]));
      double sum = 0;
      for (std::size_t r = 0; r < 280; ++r) {
        sum += x[r * 37 + j];
      }
      ASSERT_NEAR(whole[j], sum, 1e-5);
    }
  });
}

}  // namespace
}  // namespace tessera::cpu
