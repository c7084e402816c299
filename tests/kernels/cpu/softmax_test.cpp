#include <tessera/kernels/cpu/softmax.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tessera/kernels/cpu/ranges.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

std::vector<double> truth(const float* x, std::int64_t columns) {
  std::vector<double> p(x, x + columns);
  double total = 0;
  for (double& v : p) {
    total += v = std::exp(v);
  }
  for (double& v : p) {
    v /= total;
  }
  return p;
}

TEST(Softmax, EqualsDouble) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t columns : {1, 3, 16, 50, 1027}) {
      const std::int64_t rows = 5;
      const auto x = random_values(rows * columns, 1, 20.0F);
      const auto dy = random_values(rows * columns, 2);
      std::vector<float> y(x.size()), z(x.size()), dx(x.size()), dz(x.size());
      softmax_forward(DType::f32, x.data(), y.data(), rows, columns, false);
      softmax_forward(DType::f32, x.data(), z.data(), rows, columns, true);
      softmax_backward(DType::f32, y.data(), dy.data(), dx.data(), rows, columns, false);
      softmax_backward(DType::f32, z.data(), dy.data(), dz.data(), rows, columns, true);
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto p = truth(x.data() + r * columns, columns);
        double dot = 0, total = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const double g = dy[static_cast<std::size_t>(r * columns + j)];
          dot += g * p[static_cast<std::size_t>(j)];
          total += g;
        }
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto i = static_cast<std::size_t>(r * columns + j);
          const double q = p[static_cast<std::size_t>(j)];
          ASSERT_NEAR(y[i], q, 4e-6 * q + 1e-9);
          ASSERT_NEAR(z[i], std::log(q), 8e-6);
          ASSERT_NEAR(dx[i], (dy[i] - dot) * q, 2e-6);
          ASSERT_NEAR(dz[i], dy[i] - q * total, 2e-5);
        }
      }
    }
  });
}

TEST(Softmax, LogarithmKeepsItsDigitsWhereLogitsAreLarge) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const float offset : {1e4F, -1e4F, 4e6F}) {
      for (const std::int64_t columns : {3, 50, 5000}) {
        auto x = random_values(2 * columns, 1, 8.0F);
        std::vector<float> from_zero(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
          x[i] += offset;  // rounds, so the same differences are taken from what it left
          from_zero[i] = x[i] - offset;
        }
        std::vector<float> y(x.size());
        softmax_forward(DType::f32, x.data(), y.data(), 2, columns, true);
        for (std::int64_t r = 0; r < 2; ++r) {
          const auto p = truth(from_zero.data() + r * columns, columns);
          for (std::int64_t j = 0; j < columns; ++j) {
            const double want = std::log(p[static_cast<std::size_t>(j)]);
            ASSERT_NEAR(y[static_cast<std::size_t>(r * columns + j)], want, 1e-5);
          }
        }
      }
    }
  });
}

TEST(Softmax, RowsDoNotDependOnTheirNeighbours) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t columns : {1, 19, 1024, 4100}) {
      const std::int64_t rows = 7;
      const auto x = random_values(rows * columns, 1, 4.0F), dy = random_values(rows * columns, 2);
      for (const bool logarithm : {false, true}) {
        std::vector<float> y(x.size()), dx(x.size()), one(x.size());
        softmax_forward(DType::f32, x.data(), y.data(), rows, columns, logarithm);
        softmax_backward(DType::f32, y.data(), dy.data(), dx.data(), rows, columns, logarithm);
        auto in_place = x;
        softmax_forward(DType::f32, in_place.data(), in_place.data(), rows, columns, logarithm);
        EXPECT_TRUE(test::same_bits(in_place, y));
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t at = r * columns;
          softmax_forward(DType::f32, x.data() + at, one.data() + at, 1, columns, logarithm);
        }
        EXPECT_TRUE(test::same_bits(one, y));
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t at = r * columns;
          softmax_backward(DType::f32, y.data() + at, dy.data() + at, one.data() + at, 1, columns,
                           logarithm);
        }
        EXPECT_TRUE(test::same_bits(one, dx));
        in_place = dy;
        softmax_backward(DType::f32, y.data(), in_place.data(), in_place.data(), rows, columns,
                         logarithm);
        EXPECT_TRUE(test::same_bits(in_place, dx));
      }
    }
  });
}

/// y and dx of `rows` rows that repeat `pattern`.
std::pair<test::AlignedFloats, test::AlignedFloats> run_softmax(const std::vector<float>& pattern,
                                                                std::int64_t rows,
                                                                std::int64_t columns,
                                                                bool logarithm) {
  std::vector<float> x;
  while (static_cast<std::int64_t>(x.size()) < rows * columns) {
    x.insert(x.end(), pattern.begin(), pattern.end());
  }
  test::AlignedFloats y(x.size()), dx(x.size());
  softmax_forward(DType::f32, x.data(), y.data(), rows, columns, logarithm);
  softmax_backward(DType::f32, y.data(), x.data(), dx.data(), rows, columns, logarithm);
  return {y, dx};
}

TEST(Softmax, LargeResultsHaveTheSameBits) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t few = 40, many = 6400, columns = 1024;
    ASSERT_TRUE(outlives_caches(many * columns * std::int64_t{sizeof(float)}));
    const auto pattern = random_values(few * columns, 3, 4.0F);
    for (const bool logarithm : {false, true}) {
      const auto a = run_softmax(pattern, few, columns, logarithm);
      const auto b = run_softmax(pattern, many, columns, logarithm);
      EXPECT_TRUE(std::equal(a.first.rbegin(), a.first.rend(), b.first.rbegin()));
      EXPECT_TRUE(std::equal(a.second.rbegin(), a.second.rend(), b.second.rbegin()));
    }
  });
}

/// 2^n times a polynomial: every n, down to where nothing is left.
TEST(Softmax, EveryDifferenceHasItsExponential) {
  constexpr double kSmallestNormal = 0x1p-126;
  std::vector<float> x;
  for (int i = 0; i < 4000; ++i) {
    x.push_back(-0.05F * static_cast<float>(i));
  }
  const auto columns = static_cast<std::int64_t>(x.size());
  const auto p = truth(x.data(), columns);
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<float> y(x.size());
    softmax_forward(DType::f32, x.data(), y.data(), 1, columns, false);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(y[i], p[i], 1e-6 * p[i] + kSmallestNormal) << x[i];
      ASSERT_TRUE(y[i] >= 0 && (x[i] > -104 || y[i] == 0)) << x[i];
    }
  });
}

TEST(Softmax, WorksInPlaceAndSeesMinusInfinity) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<float> x{0.0F, -INFINITY, 0.0F};
    softmax_forward(DType::f32, x.data(), x.data(), 1, 3, false);
    EXPECT_EQ(x, (std::vector<float>{0.5F, 0.0F, 0.5F}));
  });
}

TEST(CrossEntropy, LossAndGradient) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t rows = 6, columns = 101;
    const auto x = random_values(rows * columns, 3, 5.0F);
    const std::vector<std::int64_t> targets{0, 100, -100, 7, 50, 99};
    const auto dlosses = random_values(rows, 4);
    for (const float smoothing : {0.0F, 0.1F}) {
      CrossEntropyRows c;
      c.rows = rows, c.columns = columns, c.logits = x.data(), c.targets = targets.data();
      c.smoothing = smoothing;
      std::vector<float> losses(6), dx(x.size());
      std::vector<LogSum> log_sums(6);
      cross_entropy_forward(c, losses.data(), log_sums.data());
      cross_entropy_backward(c, log_sums.data(), dlosses.data(), DType::f32, dx.data(), columns);
      std::vector<float> wide = x;  // the gradient in bf16, over the logits
      c.logits = wide.data();
      cross_entropy_backward(c, log_sums.data(), dlosses.data(), DType::bf16, wide.data(),
                             2 * columns);
      const auto* half = reinterpret_cast<const BFloat16*>(wide.data());
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto p = truth(x.data() + r * columns, columns);
        const std::int64_t t = targets[static_cast<std::size_t>(r)];
        double loss = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const double want =
              smoothing / static_cast<double>(columns) + (j == t ? 1.0 - smoothing : 0.0);
          const double q = p[static_cast<std::size_t>(j)];
          loss -= t < 0 ? 0.0 : want * std::log(q);
          const double g = t < 0 ? 0.0 : (q - want) * dlosses[static_cast<std::size_t>(r)];
          const float got = dx[static_cast<std::size_t>(r * columns + j)];
          ASSERT_NEAR(got, g, 1e-6);
          ASSERT_EQ(half[2 * r * columns + j].bits, BFloat16(got).bits);
        }
        ASSERT_NEAR(losses[static_cast<std::size_t>(r)], loss, 1e-5);
      }
    }
  });
}

/// The loss of one row whose target is class 3.
float loss_of(const std::vector<float>& logits) {
  const std::int64_t target = 3;
  CrossEntropyRows c;
  c.rows = 1, c.columns = static_cast<std::int64_t>(logits.size());
  c.logits = logits.data(), c.targets = &target;
  float loss = 0;
  cross_entropy_forward(c, &loss, nullptr);
  return loss;
}

TEST(CrossEntropy, EveryBlockOfARowIsSummed) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t columns : {511, 512, 513, 1023, 1024, 1025, 1536, 2000}) {
      const auto x = random_values(columns, 5, 4.0F);
      ASSERT_NEAR(loss_of(x), -std::log(truth(x.data(), columns)[3]), 1e-5) << columns;
      for (std::int64_t at : {std::int64_t{0}, columns / 2, columns - 257, columns - 1}) {
        auto y = x;
        y[static_cast<std::size_t>(at)] = 120.0F;  // e^120 is too large for f32
        ASSERT_NEAR(loss_of(y), -std::log(truth(y.data(), columns)[3]), 1e-5)
            << columns << " " << at;
        y[static_cast<std::size_t>(at)] = NAN;
        ASSERT_TRUE(std::isnan(loss_of(y))) << columns << " " << at;
      }
    }
  });
}

TEST(CrossEntropy, KeepsItsDigitsWhereLogitsAreLarge) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t columns = 3000;
    auto x = random_values(columns, 3, 5.0F);
    std::vector<float> from_zero(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += 1e4F;
      from_zero[i] = x[i] - 1e4F;
    }
    const std::int64_t target = 11;
    CrossEntropyRows c;
    c.rows = 1, c.columns = columns, c.logits = x.data(), c.targets = &target;
    const auto p = truth(from_zero.data(), columns);
    for (const float smoothing : {0.0F, 0.1F}) {
      c.smoothing = smoothing;
      double want = -(1.0 - smoothing) * std::log(p[11]);
      for (const double q : p) {
        want -= smoothing * std::log(q) / static_cast<double>(columns);
      }
      float loss = 0;
      cross_entropy_forward(c, &loss, nullptr);
      EXPECT_NEAR(loss, want, smoothing == 0 ? 1e-5 : 1e-3);  // the mean of logits is rounded
    }
  });
}

TEST(CrossEntropy, GradientKeepsItsDigitsWhereLogitsAreLarge) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::vector<float> x{10000.0F, 10001.5F, 9999.0F}, from_zero{0.0F, 1.5F, -1.0F};
    const auto p = truth(from_zero.data(), 3);
    const std::int64_t target = 1;
    CrossEntropyRows c;
    c.rows = 1, c.columns = 3, c.logits = x.data(), c.targets = &target;
    const float dloss = 1;
    float loss = 0;
    std::vector<float> dx(3);
    cross_entropy(c, &loss, &dloss, DType::f32, dx.data(), 3);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(dx[j], p[j] - (j == 1 ? 1 : 0), 1e-6);
    }
  });
}

TEST(CrossEntropy, OneWalkGivesTheBitsOfTwo) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t rows = 5, columns = 1037;
    const auto x = random_values(rows * columns, 3, 5.0F), dlosses = random_values(rows, 4);
    const std::vector<std::int64_t> targets{0, 1036, -100, 7, 50};
    CrossEntropyRows c;
    c.rows = rows, c.columns = columns, c.logits = x.data(), c.targets = targets.data();
    std::vector<float> losses(5), dx(x.size()), losses_of_one(5), dx_of_one(x.size());
    std::vector<LogSum> log_sums(5);
    cross_entropy_forward(c, losses.data(), log_sums.data());
    cross_entropy_backward(c, log_sums.data(), dlosses.data(), DType::f32, dx.data(), columns);
    cross_entropy(c, losses_of_one.data(), dlosses.data(), DType::f32, dx_of_one.data(), columns);
    EXPECT_EQ(losses, losses_of_one);
    EXPECT_EQ(dx, dx_of_one);
  });
}

TEST(Softmax, OneNanSpoilsItsRow) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t columns : {40, 5000}) {
      for (const std::int64_t place : {std::int64_t{0}, columns / 2, columns - 1}) {
        auto x = random_values(columns, 3);
        x[static_cast<std::size_t>(place)] = NAN;
        for (const bool logarithm : {false, true}) {
          std::vector<float> y(x.size());
          softmax_forward(DType::f32, x.data(), y.data(), 1, columns, logarithm);
          EXPECT_TRUE(std::ranges::all_of(y, [](float v) { return std::isnan(v); }));
        }
        const std::int64_t target = 1;
        CrossEntropyRows c;
        c.rows = 1, c.columns = columns, c.logits = x.data(), c.targets = &target;
        float loss = 0;
        cross_entropy_forward(c, &loss, nullptr);
        EXPECT_TRUE(std::isnan(loss)) << columns << " columns, nan in " << place;
      }
    }
  });
}

TEST(CrossEntropy, NamesABadTarget) {
  const std::vector<float> x(10);
  const std::vector<std::int64_t> targets{1, 5};
  CrossEntropyRows c;
  c.rows = 2, c.columns = 5, c.logits = x.data(), c.targets = targets.data();
  EXPECT_THROW(check_targets("loss", c), InvalidArgument);
}

}  // namespace
}  // namespace tessera::cpu
