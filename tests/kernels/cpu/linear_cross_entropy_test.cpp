
#include <cmath>
#include <string>

#include <tessera/kernels/cpu/linear_cross_entropy.h>

#include <gtest/gtest.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

constexpr std::int64_t kHeadColumns = 20, kClasses = 70;

struct LossResult {
  std::vector<float> losses, dx, dweight;
};

LossResult run_loss(std::int64_t rows, std::int64_t cuts, std::int64_t rows_held,
                    bool per_microbatch = false, bool accumulate = false) {
  const auto x = random_values(rows * kHeadColumns, 1, 2.0F);
  const auto weight = random_values(kClasses * kHeadColumns, 2);
  const auto dlosses = random_values(rows, 3);
  std::vector<std::int64_t> targets;
  for (std::int64_t r = 0; r < rows; ++r) {
    targets.push_back(r % 13 == 5 ? -100 : r * 31 % kClasses);
  }
  LossResult out{
      std::vector<float>(static_cast<std::size_t>(rows)), std::vector<float>(x.size()),
      std::vector<float>(weight.size() * (per_microbatch ? static_cast<std::size_t>(cuts) : 1),
                         accumulate ? 0.5F : NAN)};
  LinearCrossEntropy h;
  h.rows = rows, h.columns = kHeadColumns, h.classes = kClasses, h.cuts = cuts;
  h.x = x.data(), h.weight = weight.data(), h.targets = targets.data(), h.smoothing = 0.1F;
  h.max_bytes = rows_held * kClasses * 4;
  h.losses = out.losses.data(), h.dlosses = dlosses.data(), h.dx = out.dx.data();
  h.dweight = out.dweight.data(), h.per_microbatch = per_microbatch, h.accumulate = accumulate;
  linear_cross_entropy(h);
  return out;
}

TEST(LinearCrossEntropy, EqualsDouble) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const std::int64_t rows = 300;
    const LossResult got = run_loss(rows, 1, 1000);
    const auto x = random_values(rows * kHeadColumns, 1, 2.0F);
    const auto weight = random_values(kClasses * kHeadColumns, 2);
    const auto dlosses = random_values(rows, 3);
    std::vector<double> dweight(weight.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<double> p(kClasses);
      double total = 0, loss = 0;
      for (std::int64_t c = 0; c < kClasses; ++c) {
        for (std::int64_t j = 0; j < kHeadColumns; ++j) {
          p[static_cast<std::size_t>(c)] +=
              static_cast<double>(x[static_cast<std::size_t>(r * kHeadColumns + j)]) *
              weight[static_cast<std::size_t>(c * kHeadColumns + j)];
        }
        total += std::exp(p[static_cast<std::size_t>(c)]);
      }
      const bool ignored = r % 13 == 5;
      std::vector<double> dx(kHeadColumns);
      for (std::int64_t c = 0; c < kClasses; ++c) {
        const double q = std::exp(p[static_cast<std::size_t>(c)]) / total;
        const double want = 0.1 / kClasses + (c == r * 31 % kClasses ? 0.9 : 0.0);
        loss -= ignored ? 0.0 : want * std::log(q);
        const double d = ignored ? 0.0 : (q - want) * dlosses[static_cast<std::size_t>(r)];
        for (std::int64_t j = 0; j < kHeadColumns; ++j) {
          dx[static_cast<std::size_t>(j)] +=
              d * weight[static_cast<std::size_t>(c * kHeadColumns + j)];
          dweight[static_cast<std::size_t>(c * kHeadColumns + j)] +=
              d * x[static_cast<std::size_t>(r * kHeadColumns + j)];
        }
      }
      ASSERT_NEAR(got.losses[static_cast<std::size_t>(r)], loss, 2e-5);
      for (std::int64_t j = 0; j < kHeadColumns; ++j) {
        ASSERT_NEAR(got.dx[static_cast<std::size_t>(r * kHeadColumns + j)],
                    dx[static_cast<std::size_t>(j)], 1e-5);
      }
    }
    for (std::size_t i = 0; i < dweight.size(); ++i) {
      ASSERT_NEAR(got.dweight[i], dweight[i], 1e-4);
    }
  });
}

TEST(LinearCrossEntropy, BytesHeldChangeNoBits) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const std::int64_t cuts : {1, 3, 4, 8}) {
      const std::int64_t rows = cuts * 600;
      for (const bool accumulate : {false, true}) {
        const LossResult all = run_loss(rows, cuts, rows, false, accumulate);
        for (const std::int64_t held : {1, 512, 600, 1300, 2400}) {
          const LossResult some = run_loss(rows, cuts, held, false, accumulate);
          EXPECT_TRUE(test::same_bits(all.losses, some.losses)) << cuts << " cuts, held " << held;
          EXPECT_TRUE(test::same_bits(all.dx, some.dx)) << cuts << " cuts, held " << held;
          EXPECT_TRUE(test::same_bits(all.dweight, some.dweight))
              << cuts << " cuts, held " << held << ", accumulate " << accumulate;
        }
      }
    }
  });
}

TEST(LinearCrossEntropy, PiecesAddUpToTheWhole) {
  const LossResult whole = run_loss(4 * 300, 4, 5000);
  for (const std::int64_t held : {1, 300, 600, 5000}) {
    const LossResult pieces = run_loss(4 * 300, 4, held, true);
    const std::size_t size = whole.dweight.size();
    for (std::size_t i = 0; i < size; ++i) {
      const auto p = [&](std::size_t cut) { return pieces.dweight[cut * size + i]; };
      ASSERT_EQ(whole.dweight[i], (p(0) + p(1)) + (p(2) + p(3))) << held;
    }
  }
}

TEST(LinearCrossEntropy, SameBitsForAnyNumberOfThreads) {
  std::vector<LossResult> results;
  test::with_every_thread_count([&](int) { results.push_back(run_loss(2 * 700, 2, 600)); });
  for (const LossResult& r : results) {
    EXPECT_TRUE(test::same_bits(r.dweight, results[0].dweight));
    EXPECT_TRUE(test::same_bits(r.dx, results[0].dx));
  }
}

}  // namespace
}  // namespace tessera::cpu
