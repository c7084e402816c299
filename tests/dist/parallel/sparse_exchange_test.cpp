// Sparse gradients of several ranks: gathered, or as a table, they add up to one process's bits.
#include <tessera/dist/parallel/sparse_exchange.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/loopback.h>

#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kMicrobatches = 8, kRows = 5, kWide = 3;

/// Rows of microbatches [first, first + count): uneven numbers of them, none in some.
SparseGradient rows_of(std::int64_t first, std::int64_t count, const Device& device) {
  std::vector<std::int64_t> ids, lengths;
  std::vector<float> values;
  for (std::int64_t m = first; m < first + count; ++m) {
    lengths.push_back((m * 3) % 4);
    for (std::int64_t i = 0; i < lengths.back(); ++i) {
      ids.push_back((m + i * i) % kRows);
      for (std::int64_t j = 0; j < kWide; ++j) {
        values.push_back((m % 2 == 0 ? 1e6F : 1.0F) + 0.3F * static_cast<float>(m + i + j));
      }
    }
  }
  const auto n = std::ssize(ids);
  return {.ids = on_device(from_values<std::int64_t>(ids, {n}), device),
          .values = on_device(from_values<float>(values, {n, kWide}), device),
          .microbatch_count = static_cast<std::int32_t>(count),
          .first = first,
          .lengths = lengths};
}

std::vector<float> added_on_ranks(int ranks, bool table, bool guarded) {
  std::vector<float> of_last;
  run_ranks(ranks, [&](Communicator& comm) {
    const Device device = guarded ? test::guarded_device(comm.rank()) : Device{};
    const MicrobatchBlocks blocks(kMicrobatches, ranks, comm.rank());
    const Tensor parameter = zeros({kRows, kWide}, {.device = device});
    const Tensor gradient = full({kRows, kWide}, 0.25, {.device = device});
    RowCounts counts;
    for (int r = 0; r < ranks; ++r) {
      const MicrobatchRange share = blocks.share_of(r);
      counts.push_back(rows_of(share.first, share.count, Device{}).count());
    }
    const MicrobatchRange share = blocks.share_of(comm.rank());
    const SparseGradient mine =
        sparse_of_rank(rows_of(share.first, share.count, device), share, parameter);
    if (table) {
      const Tensor sums = reduce_sparse(comm, blocks, mine, parameter, "rows");
      static_cast<void>(call_into<Add>(gradient, {gradient, sums}));
    } else {
      static_cast<void>(add_sparse(gradient, gather_sparse(comm, blocks, mine, counts, "rows"),
                                   TensorMeta(parameter.get()), gradient));
    }
    if (comm.rank() == ranks - 1) {
      of_last = gradient.to_vector<float>();
    }
  });
  return of_last;
}

TEST(SparseExchange, adds_the_bits_of_one_process_on_any_device) {
  const Tensor parameter = zeros({kRows, kWide});
  const std::vector<float> expected =
      add_sparse(full({kRows, kWide}, 0.25), rows_of(0, kMicrobatches, Device{}),
                 TensorMeta(parameter.get()))
          .to_vector<float>();
  for (const int ranks : {1, 2, 3, 4}) {
    for (const bool table : {false, true}) {
      EXPECT_EQ(added_on_ranks(ranks, table, false), expected) << ranks << ' ' << table;
      test::GuardedRun run(static_cast<std::uint64_t>(ranks));
      EXPECT_EQ(added_on_ranks(ranks, table, true), expected) << ranks << ' ' << table;
      EXPECT_EQ(run.reports(), std::vector<std::string>{});
    }
  }
}

TEST(SparseExchange, takes_a_table_where_rows_are_many) {
  EXPECT_FALSE(is_better_as_table({1000}, 10));  // alone
  EXPECT_FALSE(is_better_as_table({9, 3}, 10));
  EXPECT_TRUE(is_better_as_table({3, 10}, 10));
}

}  // namespace
}  // namespace tessera::dist
