#include <tessera/kernels/cpu/embedding.h>

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

constexpr std::int64_t kTableRows = 23, kTableColumns = 21, kTokens = 8 * 31;

std::vector<std::int64_t> some_ids() {
  std::vector<std::int64_t> ids;
  for (const float v : random_values(kTokens, 1)) {
    ids.push_back(static_cast<std::int64_t>((v + 1) * 0.5F * 20));
  }
  ids[kTokens - 1] = 22;  // in the last microbatch alone
  return ids;
}

TEST(Embedding, TakesRows) {
  const auto table = random_values(kTableRows * kTableColumns, 2);
  const auto ids = some_ids();
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    std::vector<float> y(kTokens * kTableColumns);
    std::vector<BFloat16> half(y.size());
    embedding_forward(table.data(), kTableRows, kTableColumns, ids.data(), kTokens, DType::f32,
                      y.data());
    embedding_forward(table.data(), kTableRows, kTableColumns, ids.data(), kTokens, DType::bf16,
                      half.data());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t row = static_cast<std::size_t>(ids[i / kTableColumns]);
      ASSERT_EQ(y[i], table[row * kTableColumns + i % kTableColumns]);
      ASSERT_EQ(half[i].bits, BFloat16(y[i]).bits);
    }
  });
}

std::vector<float> gradient(std::int64_t cuts) {
  const auto ids = some_ids();
  const auto dy = random_values(kTokens * kTableColumns, 3);
  std::vector<float> out(kTableRows * kTableColumns, 0.25F);
  EmbeddingGradient e;
  e.ids = ids.data(), e.dy = dy.data(), e.count = kTokens, e.columns = kTableColumns;
  e.table_rows = kTableRows, e.cuts = cuts, e.gradient = out.data();
  embedding_backward(e);
  return out;
}

TEST(Embedding, GradientIsATreeOverMicrobatches) {
  const auto ids = some_ids();
  const auto dy = random_values(kTokens * kTableColumns, 3);
  test::on_every_isa([&](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const auto got = gradient(8);
    for (std::size_t row = 0; row < kTableRows; ++row) {
      for (std::size_t j = 0; j < kTableColumns; ++j) {
        float p[8] = {};
        for (std::size_t i = 0; i < kTokens; ++i) {
          if (ids[i] == static_cast<std::int64_t>(row)) {
            p[i / 31] += dy[i * kTableColumns + j];
          }
        }
        const float sum = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
        ASSERT_EQ(got[row * kTableColumns + j], 0.25F + sum) << row;
      }
    }
  });
}

TEST(Embedding, SameBitsForAnyNumberOfThreads) {
  std::vector<std::vector<float>> results;
  test::with_every_thread_count([&](int) { results.push_back(gradient(4)); });
  for (const auto& r : results) {
    EXPECT_TRUE(test::same_bits(r, results[0]));
  }
}

TEST(Embedding, NamesABadId) {
  const std::vector<float> table(10);
  const std::vector<std::int64_t> ids{0, 2};
  std::vector<float> y(10);
  EXPECT_THROW(embedding_forward(table.data(), 2, 5, ids.data(), 2, DType::f32, y.data()),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera::cpu
