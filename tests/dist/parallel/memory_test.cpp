// What data parallel takes for communication stands in the memory statistics.
#include <gtest/gtest.h>

#include <tessera/core/device/memory_stats.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/parallel/sparse_exchange.h>
#include <tessera/nn/layers/linear.h>

#include "support/sizes.h"
#include "support/toy_model.h"

namespace tessera::dist {
namespace {

std::size_t of(MemoryCategory category) {
  return memory_stats()[category];
}

struct Taken {
  std::size_t gradients = 0, communication = 0;
};

/// By all ranks together, for a model of some 256 KiB.
Taken taken_by(int ranks) {
  const MemoryStats before = memory_stats();
  Taken taken;
  run_ranks(ranks, [&](Communicator& comm) {
    const auto model = nn::make<nn::Linear>(256, 256);
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(*model, borrowed, {.grain = kGrain});
    barrier(comm).wait();
    if (comm.rank() == 0) {
      const MemoryStats now = memory_stats();
      taken = {now[MemoryCategory::gradient] - before[MemoryCategory::gradient],
               now[MemoryCategory::communication] - before[MemoryCategory::communication]};
    }
    barrier(comm).wait();
  });
  EXPECT_EQ(of(MemoryCategory::gradient), before[MemoryCategory::gradient]);
  return taken;
}

TEST(MemoryOfDataParallel, HoldsOneGradientARankAndRoomsOfCollectives) {
  constexpr std::size_t kParameters = (256 * 256 + 256) * sizeof(float);
  constexpr std::size_t kPadding = 4096;
  const Taken alone = taken_by(1), two = taken_by(2), three = taken_by(3);
  EXPECT_EQ(alone.communication, 0U);
  EXPECT_GT(two.communication, std::size_t{1} << 20);  // what ranks stage through
  for (const auto& [ranks, taken] : {std::pair{1U, alone}, {2U, two}, {3U, three}}) {
    EXPECT_GE(taken.gradients, ranks * kParameters) << ranks;
    EXPECT_LE(taken.gradients, ranks * (kParameters + kPadding)) << ranks;
  }
  // Of three ranks two hold several blocks of microbatches, and so has everybody's memory room for.
  EXPECT_GT(three.communication, two.communication + 3 * kParameters);
}

TEST(MemoryOfDataParallel, IsReservedTooAndGivenBack) {
  const MemoryStats before = memory_stats();
  run_ranks(2, [&](Communicator& comm) {
    const auto model = nn::make<nn::Linear>(512, 512);
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(*model, borrowed, {.grain = kGrain});
    barrier(comm).wait();
    const MemoryStats now = memory_stats();
    EXPECT_GE(now.reserved - before.reserved, 2 * (512 * 512 * sizeof(float)) * 2);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_GE(now.reserved, now.current);
#endif
    barrier(comm).wait();
  });
  EXPECT_LE(of(MemoryCategory::communication),
            before[MemoryCategory::communication] + (std::size_t{64} << 10));  // tiles of threads
}

TEST(MemoryOfDataParallel, HoldsTheRowsThatAreGathered) {
  constexpr std::int64_t kIds = 1000, kWide = 64;
  run_ranks(2, [](Communicator& comm) {
    barrier(comm).wait();
    const std::size_t before = of(MemoryCategory::communication);
    barrier(comm).wait();
    const MicrobatchBlocks blocks(2, 2, comm.rank());
    const SparseGradient mine{.ids = zeros({kIds}, {.dtype = DType::i64}),
                              .values = zeros({kIds, kWide}),
                              .lengths = {kIds}};
    const SparseGradient all = gather_sparse(comm, blocks, mine, {kIds, kIds}, "rows");
    EXPECT_EQ(all.lengths, (std::vector<std::int64_t>{kIds, kIds}));
    barrier(comm).wait();
    constexpr std::size_t kOne = kIds * (kWide * sizeof(float) + sizeof(std::int64_t));
    EXPECT_GE(of(MemoryCategory::communication), before + 2 * 2 * kOne);
    barrier(comm).wait();
  });
}

}  // namespace
}  // namespace tessera::dist
