#include <tessera/kernels/cpu/elementwise.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using RealFunction = std::function<double(double)>;

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_erf(double x) {
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}
double silu(double x) {
  return x / (1 + std::exp(-x));
}

double mish(double x) {
  return x * std::tanh(std::log1p(std::exp(x)));
}

std::vector<float> evenly_spread(float from, float to) {
  std::vector<float> x;
  constexpr int kCount = 40003;  // no multiple of any vector
  for (int i = 0; i < kCount; ++i) {
    x.push_back(from + (to - from) * static_cast<float>(i) / kCount);
  }
  return x;
}

/// Largest distance in units of the last place of the true value (or of `floor`, if larger).
double worst_ulp(Unary f, const RealFunction& truth, float from, float to, double floor = 1e-37) {
  const auto x = evenly_spread(from, to);
  std::vector<float> y(x.size());
  map(f, DType::f32, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = truth(x[i]);
    const double unit = std::max(std::abs(t), floor) * 0x1p-24;
    worst = std::max(worst, std::abs(y[i] - t) / unit);
  }
  return worst;
}

TEST(Elementwise, LogarithmSeesTheEdges) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const double slack = isa == Isa::baseline ? 2.0 : 1.0;
    const auto truth = [](double x) { return std::log(x); };
    EXPECT_LT(worst_ulp(Unary::logarithm, truth, 0.01F, 3), 4 * slack);
    EXPECT_LT(worst_ulp(Unary::logarithm, truth, 3, 1e30F), 4 * slack);
    EXPECT_LT(worst_ulp(Unary::logarithm, truth, 1e-44F, 1e-37F), 4 * slack);
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> x{0.0F, -0.0F, -1.0F, -inf, inf, 1.0F, NAN};
    std::vector<float> y(x.size());
    map(Unary::logarithm, DType::f32, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    EXPECT_EQ(y[0], -inf);
    EXPECT_EQ(y[1], -inf);
    EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]) && std::isnan(y[6]));
    EXPECT_EQ(y[4], inf);
    EXPECT_EQ(y[5], 0);
  });
}

TEST(Elementwise, FunctionsAreAccurate) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    // Without fused multiply-add an intermediate rounding is added.
    const double slack = isa == Isa::baseline ? 2.0 : 1.0;
    EXPECT_LT(worst_ulp(
                  Unary::exp, [](double x) { return std::exp(x); }, -87, 88),
              3 * slack);
    EXPECT_LT(worst_ulp(
                  Unary::tanh, [](double x) { return std::tanh(x); }, -10, 10),
              5 * slack);
    EXPECT_LT(worst_ulp(
                  Unary::tanh, [](double x) { return std::tanh(x); }, -1e-3F, 1e-3F),
              3);
    EXPECT_LT(worst_ulp(
                  Unary::erf, [](double x) { return std::erf(x); }, -5, 5),
              5 * slack);
    EXPECT_LT(worst_ulp(
                  Unary::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80),
              6 * slack);
    EXPECT_LT(worst_ulp(Unary::silu, silu, -80, 80), 8 * slack);
    EXPECT_LT(worst_ulp(Unary::mish, mish, -80, 80), 12 * slack);
    EXPECT_LT(worst_ulp(Unary::gelu_tanh, gelu_tanh, -3, 10), 24 * slack);
    EXPECT_LT(worst_ulp(Unary::gelu_tanh, gelu_tanh, -10, 10, 0.1), 8 * slack);
    EXPECT_LT(worst_ulp(Unary::gelu_erf, gelu_erf, -13, 10), 12 * slack);
  });
}

TEST(Elementwise, FunctionsAtTheEdges) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{-inf, -200.0F, -0.0F, 0.0F, 200.0F, inf, nan};
  const auto run = [&](Unary f) {
    std::vector<float> y(x.size());
    map(f, DType::f32, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    EXPECT_TRUE(std::isnan(y[6])) << static_cast<int>(f);
    y.pop_back();
    return y;
  };
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    EXPECT_EQ(run(Unary::exp), (std::vector<float>{0, 0, 1, 1, inf, inf}));
    EXPECT_EQ(run(Unary::tanh), (std::vector<float>{-1, -1, 0, 0, 1, 1}));
    EXPECT_EQ(run(Unary::erf), (std::vector<float>{-1, -1, 0, 0, 1, 1}));
    EXPECT_EQ(run(Unary::sigmoid), (std::vector<float>{0, 0, 0.5F, 0.5F, 1, 1}));
    EXPECT_EQ(run(Unary::relu), (std::vector<float>{0, 0, 0, 0, 200, inf}));
    for (const Unary f : {Unary::gelu_tanh, Unary::gelu_erf}) {
      const auto gelu = run(f);
      EXPECT_TRUE(std::isnan(gelu[0]));  // -infinity times 0
      EXPECT_EQ(std::vector<float>(gelu.begin() + 1, gelu.end()),
                (std::vector<float>{0, 0, 0, 200, inf}));
    }
    EXPECT_EQ(run(Unary::hard_sigmoid), (std::vector<float>{0, 0, 0.5F, 0.5F, 1, 1}));
    EXPECT_EQ(run(Unary::mish)[4], 200);
    EXPECT_EQ(run(Unary::mish)[5], inf);
  });
}

TEST(Elementwise, GradientsAreSlopes) {
  const struct {
    UnaryBackward gradient;
    RealFunction function;
  } cases[] = {{UnaryBackward::gelu_tanh, gelu_tanh},
               {UnaryBackward::gelu_erf, gelu_erf},
               {UnaryBackward::silu, silu}};
  const auto x = evenly_spread(-8, 8);
  const std::vector<float> g(x.size(), 2.0F);
  std::vector<float> y(x.size());
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const auto& c : cases) {
      map_backward(c.gradient, DType::f32, x.data(), g.data(), y.data(),
                   static_cast<std::int64_t>(x.size()));
      for (std::size_t i = 0; i < x.size(); i += 7) {
        const double slope = (c.function(x[i] + 1e-5) - c.function(x[i] - 1e-5)) / 2e-5;
        ASSERT_NEAR(y[i], 2 * slope, 2e-6) << x[i];
      }
    }
  });
}

TEST(Elementwise, FunctionsOfNumbersAreAccurate) {
  const struct {
    Parametric function;
    Parameters numbers;
    RealFunction truth;
  } cases[] = {
      {Parametric::elu, {1.5F, 1, 1}, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
      {Parametric::softplus, {1, 20, 0}, [](double x) {
         return x > 20 ? x : std::log1p(std::exp(x));
       }}};
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const auto& c : cases) {
      for (const float range : {30.0F, 1.0F, 1e-3F}) {
        const auto x = evenly_spread(-range, range);
        std::vector<float> y(x.size());
        map(c.function, c.numbers, DType::f32, x.data(), y.data(),
            static_cast<std::int64_t>(x.size()));
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double truth = c.truth(x[i]);
          ASSERT_LE(std::abs(y[i] - truth), 4 * 0x1p-23 * std::abs(truth)) << x[i];
        }
      }
    }
  });
}

TEST(Elementwise, ArithmeticInBothDtypes) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t n = 1003;
    const auto a = test::random_values(n, 1);
    const auto b = test::random_values(n, 2);
    std::vector<float> y(a.size());
    map(Binary::multiply, DType::f32, a.data(), b.data(), y.data(), n);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(y[i], a[i] * b[i]);
    }
    std::vector<BFloat16> half_a(a.begin(), a.end()), half_b(b.begin(), b.end()), half_y(a.size());
    map(Binary::add, DType::bf16, half_a.data(), half_b.data(), half_y.data(), n);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float sum = static_cast<float>(half_a[i]) + static_cast<float>(half_b[i]);
      ASSERT_EQ(half_y[i].bits, BFloat16(sum).bits);
    }
  });
}

TEST(Elementwise, CastRoundsToNearestEven) {
  std::vector<float> x{1.00390625F, 1.01171875F, 3.4e38F,
                       1e-40F,      -0.0F,       std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 40; ++i) {
    x.push_back(std::ldexp(1.0F + static_cast<float>(i) / 300.0F, i - 20));
  }
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<BFloat16> y(x.size());
    cast(DType::f32, x.data(), DType::bf16, y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i].bits, BFloat16(x[i]).bits) << x[i];
    }
  });
}

}  // namespace
}  // namespace tessera::cpu
