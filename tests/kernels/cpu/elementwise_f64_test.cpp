// Functions of f64 against those of the standard library in long double, over all magnitudes.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/kernels/cpu/elementwise.h>

#include "support.h"

namespace tessera::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr long double kRootHalf = 0.70710678118654752440084436210484903928L;

long double normal(long double x) {
  return std::erfc(-x * kRootHalf) / 2;
}
long double logistic(long double x) {
  return 1 / (1 + std::exp(-x));
}

struct ExactFunction {
  const char* name;
  Unary f;
  long double (*exact)(long double);
};
const ExactFunction kFunctions[] = {
    {"exp", Unary::exp, [](long double x) { return std::exp(x); }},
    {"tanh", Unary::tanh, [](long double x) { return std::tanh(x); }},
    {"erf", Unary::erf, [](long double x) { return std::erf(x); }},
    {"log", Unary::logarithm, [](long double x) { return std::log(x); }},
    {"sigmoid", Unary::sigmoid, [](long double x) { return logistic(x); }},
    {"silu", Unary::silu, [](long double x) { return x * logistic(x); }},
    {"gelu", Unary::gelu_erf, [](long double x) { return x * normal(x); }},
    {"sqrt", Unary::square_root, [](long double x) { return std::sqrt(x); }},
};

/// Powers of two and what lies between, of both signs: 27 numbers, not a multiple of any vector,
/// for each.
std::vector<double> numbers() {
  std::vector<double> all;
  for (int e = -1040; e <= 1020; e += e > -30 && e < 12 ? 1 : 20) {
    for (int i = 0; i < 27; ++i) {
      all.push_back(std::ldexp(1 + i / 27.0, e) * (i % 2 == 0 ? 1 : -1));
    }
  }
  return all;
}

std::vector<double> mapped(Unary f, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 77.0);
  map(f, DType::f64, x.data(), y.data(), std::ssize(x));
  return y;
}

/// Off by at most `ulps` units in the last place; below the normal numbers anything as small is
/// right.
void expect_within_ulps(double got, long double exact, double ulps, const std::string& where) {
  const auto want = static_cast<double>(exact);
  if (std::isnan(want) || std::isinf(want)) {
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << where << ": " << got;
    return;
  }
  const double unit = std::abs(want) * std::numeric_limits<double>::epsilon();
  EXPECT_LE(std::abs(got - want), ulps * unit + std::numeric_limits<double>::min())
      << where << ": " << got << ", expected " << want;
}

TEST(ElementwiseF64, FunctionsOfAllMagnitudes) {
  test::on_every_isa([](Isa isa) {
    const std::vector<double> x = numbers();
    for (const ExactFunction& function : kFunctions) {
      const std::vector<double> y = mapped(function.f, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        expect_within_ulps(y[i], function.exact(x[i]), 6,
                           std::string(function.name) + " of " + std::to_string(x[i]) + " on " +
                               std::string(to_string(isa)));
      }
    }
  });
}

TEST(ElementwiseF64, SpecialNumbers) {
  test::on_every_isa([](Isa isa) {
    const std::vector<double> x{kInfinity, -kInfinity, 0.0, -0.0,
                                std::numeric_limits<double>::quiet_NaN()};
    for (const ExactFunction& function : kFunctions) {
      const std::vector<double> y = mapped(function.f, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        expect_within_ulps(y[i], function.exact(x[i]), 0,
                           std::string(function.name) + " of " + std::to_string(x[i]) + " on " +
                               std::string(to_string(isa)));
      }
    }
  });
}

}  // namespace
}  // namespace tessera::cpu
