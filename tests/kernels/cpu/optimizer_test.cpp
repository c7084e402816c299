#include <tessera/kernels/cpu/optimizer.h>

#include <cmath>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

TEST(Optimizer, AdamWFollowsTheFormula) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t n = 70001;
    auto p = random_values(n, 1);
    std::vector<float> m(p.size()), v(p.size());
    std::vector<double> q(p.begin(), p.end()), a(p.size()), b(p.size());
    const AdamwStep::Attrs s{.beta2 = 0.95, .weight_decay = 0.1};
    for (StepScalars now{.lr = 1e-2, .gradient_scale = 0.5}; now.step <= 3; ++now.step) {
      const auto g = random_values(n, 10 + static_cast<std::uint64_t>(now.step));
      const std::vector<ParameterRange> ranges{
          {p.data(), g.data(), {m.data(), v.data()}, 1000},
          {p.data() + 1000, g.data() + 1000, {m.data() + 1000, v.data() + 1000}, n - 1000}};
      adamw_step(now, s, ranges);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double h = 0.5 * g[i];
        a[i] = 0.9 * a[i] + 0.1 * h;
        b[i] = 0.95 * b[i] + 0.05 * h * h;
        const double first = a[i] / (1 - std::pow(0.9, now.step));
        const double second = b[i] / (1 - std::pow(0.95, now.step));
        q[i] = q[i] * (1 - 1e-3) - 1e-2 * first / (std::sqrt(second) + 1e-8);
      }
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      ASSERT_NEAR(p[i], q[i], 1e-6);
    }
  });
}

TEST(Optimizer, SgdFollowsTheFormula) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t n = 1003;
    for (const bool nesterov : {false, true}) {
      auto p = random_values(n, 1);
      std::vector<float> m(p.size(), NAN);
      std::vector<double> q(p.begin(), p.end()), b(p.size());
      const SgdStep::Attrs s{.momentum = 0.9, .weight_decay = 0.01, .nesterov = nesterov};
      for (int step = 0; step < 3; ++step) {
        const auto g = random_values(n, 10 + static_cast<std::uint64_t>(step));
        const ParameterRange range{p.data(), g.data(), {m.data()}, n};
        sgd_step({.lr = 0.1, .step = step + 1}, s, {&range, 1});
        for (std::size_t i = 0; i < p.size(); ++i) {
          const double d = g[i] + 0.01 * q[i];
          b[i] = step == 0 ? d : 0.9 * b[i] + d;
          q[i] -= 0.1 * (nesterov ? d + 0.9 * b[i] : b[i]);
        }
      }
      for (std::size_t i = 0; i < p.size(); ++i) {
        ASSERT_NEAR(p[i], q[i], 2e-6);
      }
    }
  });
}

TEST(Optimizer, EveryRangeIsUpdatedOnceHoweverManyShareATask) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<std::int64_t> counts{0, 300000, 0};
    for (std::int64_t i = 0; i < 200; ++i) {
      counts.push_back(i * 37 % 4200 + 1);
    }
    counts.push_back(70000);
    const std::int64_t n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    auto together = random_values(n, 1), alone = together;
    const auto g = random_values(n, 2);
    const StepScalars now{.lr = 0.1, .step = 2};
    std::vector<ParameterRange> ranges;
    std::int64_t at = 0;
    for (const std::int64_t count : counts) {
      ranges.push_back({together.data() + at, g.data() + at, {}, count});
      const ParameterRange single{alone.data() + at, g.data() + at, {}, count};
      sgd_step(now, {}, {&single, 1});
      at += count;
    }
    sgd_step(now, {}, ranges);
    EXPECT_EQ(together, alone);
    EXPECT_NEAR(alone[5], random_values(n, 1)[5] - 0.1 * g[5], 1e-6);
  });
}

TEST(Optimizer, SquaresAreSummedByBlock) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t n = 2 * kSquareBlock + 77;
    const auto x = random_values(n, 5);
    std::vector<double> sums(3), alone(1);
    sum_of_squares(x.data(), n, sums.data());
    sum_of_squares(x.data() + kSquareBlock, kSquareBlock, alone.data());
    EXPECT_EQ(sums[1], alone[0]);
    double whole = 0;
    for (const float v : x) {
      whole += static_cast<double>(v) * v;
    }
    EXPECT_NEAR(sums[0] + sums[1] + sums[2], whole, 1e-9 * whole);
  });
}

}  // namespace
}  // namespace tessera::cpu
