// Collectives between processes against MPI's own on copies; float sums against the serial tree.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/reduce/tree_sum.h>

#include "support/guarded_device.h"
#include "support/sum_of_leaves.h"
#include "support/tensor_collectives.h"
#include "world.h"

namespace tessera::dist {
namespace {

const std::vector<std::size_t> kSizes{0, 1, 63, 1000, 70001, 1300007};

/// A buffer of either kind, so that every test runs on memory that peers reach and on private one.
template <class T>
class Buffer {
 public:
  Buffer(Communicator& comm, std::size_t n, bool shared) : own_(shared ? 0 : n) {
    if (shared) {
      memory_ = comm.allocate(n * sizeof(T));
    }
    values_ = shared ? std::span<T>(reinterpret_cast<T*>(memory_.data), n) : std::span<T>(own_);
  }
  [[nodiscard]] std::span<T> values() const { return values_; }

 private:
  CommBuffer memory_;
  std::vector<T> own_;
  std::span<T> values_;
};

/// Random numbers, floating ones in [-1, 1), by Knuth's linear congruential generator (MMIX): tests
/// are not optimised, and the standard library's generators would take most of their time.
template <class T>
void fill(std::span<T> values, unsigned seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U;
  for (T& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<std::int32_t>(state >> 32)) * T{0x1p-31};
    } else {
      value = static_cast<T>(state >> 32);
    }
  }
}

class Mpi : public testing::TestWithParam<bool> {
 protected:
  Communicator& comm() { return *test_world().communicator(); }
  unsigned seed() { return static_cast<unsigned>(comm().rank()) + 1; }
};

INSTANTIATE_TEST_SUITE_P(, Mpi, testing::Values(true, false),
                         [](const auto& tested) { return tested.param ? "Shared" : "Private"; });

TEST(MpiTensors, need_no_wait_on_the_host_or_on_a_device) {
  Communicator& comm = *test_world().communicator();
  test::expect_sums_without_waiting(comm, Device{});
  test::expect_parts_without_waiting(comm, Device{});
  for (std::uint64_t order = 0; order < 5; ++order) {
    test::GuardedRun run(order);
    test::expect_sums_without_waiting(comm, test::guarded_device());
    test::expect_parts_without_waiting(comm, test::guarded_device());
    EXPECT_EQ(run.reports(), std::vector<std::string>{});
  }
}

TEST(MpiTensors, may_have_uneven_parts) {
  Communicator& comm = *test_world().communicator();
  for (const std::size_t largest : {0, 3, 5000, 200'000}) {
    test::Counts counts;
    for (int r = 0; r < comm.size(); ++r) {
      counts.push_back(largest * static_cast<std::size_t>(r % 3) / 2);  // some are empty
    }
    test::expect_uneven_parts(comm, counts);
  }
}

TEST_P(Mpi, IntegerSumsEqualMpis) {
  for (const std::size_t n : kSizes) {
    const Buffer<std::int32_t> buffer(comm(), n, GetParam());
    fill(buffer.values(), seed());
    std::vector<std::int32_t> expected(buffer.values().begin(), buffer.values().end());
    MPI_Allreduce(MPI_IN_PLACE, expected.data(), static_cast<int>(n), MPI_INT32_T, MPI_SUM,
                  MPI_COMM_WORLD);
    all_reduce<std::int32_t>(comm(), buffer.values()).wait();
    EXPECT_TRUE(std::ranges::equal(buffer.values(), expected)) << n;
  }
}

TEST_P(Mpi, MinAndMaxEqualMpis) {
  for (const std::size_t n : kSizes) {
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      const Buffer<double> buffer(comm(), n, GetParam());
      fill(buffer.values(), seed());
      std::vector<double> expected(buffer.values().begin(), buffer.values().end());
      MPI_Allreduce(MPI_IN_PLACE, expected.data(), static_cast<int>(n), MPI_DOUBLE,
                    op == ReduceOp::min ? MPI_MIN : MPI_MAX, MPI_COMM_WORLD);
      all_reduce<double>(comm(), buffer.values(), op).wait();
      EXPECT_TRUE(std::ranges::equal(buffer.values(), expected)) << n;
    }
  }
}

TEST_P(Mpi, FloatSumsHaveTheBitsOfTheSerialTree) {
  const int ranks = comm().size();
  for (const std::size_t n : kSizes) {
    std::vector<std::vector<float>> all(static_cast<std::size_t>(ranks), std::vector<float>(n));
    std::vector<const void*> sources;
    for (int rank = 0; rank < ranks; ++rank) {
      fill<float>(all[static_cast<std::size_t>(rank)], static_cast<unsigned>(rank) + 1);
      sources.push_back(all[static_cast<std::size_t>(rank)].data());
    }
    std::vector<float> expected(n);
    sum_leaves(ReductionTree::over_ranks(ranks), sources, expected.data(), n, DType::f32);
    const Buffer<float> buffer(comm(), n, GetParam());
    fill(buffer.values(), seed());
    all_reduce<float>(comm(), buffer.values()).wait();
    EXPECT_TRUE(n == 0 ||
                std::memcmp(buffer.values().data(), expected.data(), n * sizeof(float)) == 0)
        << n;
  }
}

/// Microbatch i of the grain holds values of seed i, on whichever rank.
template <class T>
std::vector<float> subtree(std::size_t first, std::size_t size, std::size_t n) {
  std::vector<float> sum(n);
  if (size == 1) {
    fill<float>(sum, static_cast<unsigned>(first) + 100);
    for (float& value : sum) {
      value = static_cast<float>(T(value));
    }
    return sum;
  }
  sum = subtree<T>(first, size / 2, n);
  const std::vector<float> right = subtree<T>(first + size / 2, size / 2, n);
  for (std::size_t i = 0; i < n; ++i) {
    sum[i] += right[i];
  }
  return sum;
}

TEST_P(Mpi, SumsOverAGrainHaveTheBitsOfOneProcess) {
  for (const std::int64_t grain : {8, 16}) {
    for (const std::size_t n : kSizes) {
      const auto tree =
          std::make_shared<ReductionTree>(ReductionTree::over_grain(grain, comm().size()));
      const auto own = tree->of_rank(comm().rank());
      const Buffer<float> buffer(comm(), n * static_cast<std::size_t>(tree->max_blocks()),
                                 GetParam());
      for (const TreeLeaf& leaf : own) {
        const auto block = subtree<float>(static_cast<std::size_t>(leaf.first),
                                          static_cast<std::size_t>(leaf.size), n);
        std::ranges::copy(
            block, buffer.values().begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(leaf.block) * n));
      }
      Collective c = collective_of<float>(CollectiveKind::all_reduce, buffer.values().data(),
                                          buffer.values().data(), n);
      c.tree = tree;
      comm().launch(c).wait();
      const auto expected = subtree<float>(0, static_cast<std::size_t>(grain), n);
      EXPECT_TRUE(n == 0 ||
                  std::memcmp(buffer.values().data(), expected.data(), n * sizeof(float)) == 0)
          << grain << " " << n;
    }
  }
}

TEST_P(Mpi, HalfPrecisionIsRoundedOnce) {
  const std::size_t n = 5003;
  const Buffer<BFloat16> buffer(comm(), n, GetParam());
  std::vector<float> expected(n);
  for (int rank = 0; rank < comm().size(); ++rank) {  // exact in float for so few ranks
    std::vector<float> values(n);
    fill<float>(values, static_cast<unsigned>(rank) + 1);
    for (std::size_t i = 0; i < n; ++i) {
      expected[i] += static_cast<float>(BFloat16(values[i]));
      if (rank == comm().rank()) {
        buffer.values()[i] = BFloat16(values[i]);
      }
    }
  }
  all_reduce<BFloat16>(comm(), buffer.values()).wait();
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = static_cast<float>(buffer.values()[i]);
    ASSERT_NEAR(sum, expected[i], 0.004F * std::abs(expected[i]) + 1e-6F);
  }
}

TEST_P(Mpi, AllGatherEqualsMpis) {
  const auto ranks = static_cast<std::size_t>(comm().size());
  for (const std::size_t n : kSizes) {
    const Buffer<float> mine(comm(), n, GetParam());
    const Buffer<float> all(comm(), n * ranks, GetParam());
    fill(mine.values(), seed());
    std::vector<float> expected(n * ranks);
    MPI_Allgather(mine.values().data(), static_cast<int>(n), MPI_FLOAT, expected.data(),
                  static_cast<int>(n), MPI_FLOAT, MPI_COMM_WORLD);
    all_gather<float>(comm(), mine.values(), all.values()).wait();
    EXPECT_TRUE(std::ranges::equal(all.values(), expected)) << n;
  }
}

TEST_P(Mpi, ReduceScatterOfIntegersEqualsMpis) {
  const auto ranks = static_cast<std::size_t>(comm().size());
  for (const std::size_t n : kSizes) {
    const Buffer<std::int64_t> all(comm(), n * ranks, GetParam());
    const Buffer<std::int64_t> mine(comm(), n, GetParam());
    fill(all.values(), seed());
    std::vector<std::int64_t> expected(n);
    MPI_Reduce_scatter_block(all.values().data(), expected.data(), static_cast<int>(n), MPI_INT64_T,
                             MPI_SUM, MPI_COMM_WORLD);
    reduce_scatter<std::int64_t>(comm(), all.values(), mine.values()).wait();
    EXPECT_TRUE(std::ranges::equal(mine.values(), expected)) << n;
  }
}

TEST_P(Mpi, ReduceScatterOfFloatsIsTheAllReduceCutIntoParts) {
  const auto ranks = static_cast<std::size_t>(comm().size());
  const std::size_t n = 30011;
  const Buffer<float> all(comm(), n * ranks, GetParam());
  const Buffer<float> mine(comm(), n, GetParam());
  fill(all.values(), seed());
  reduce_scatter<float>(comm(), all.values(), mine.values()).wait();
  all_reduce<float>(comm(), all.values()).wait();
  const auto part = all.values().subspan(n * static_cast<std::size_t>(comm().rank()), n);
  EXPECT_EQ(std::memcmp(mine.values().data(), part.data(), n * sizeof(float)), 0);
}

TEST_P(Mpi, AllToAllEqualsMpis) {
  const auto ranks = static_cast<std::size_t>(comm().size());
  for (const std::size_t n : kSizes) {
    const Buffer<float> parts(comm(), n * ranks, GetParam());
    const Buffer<float> received(comm(), n * ranks, GetParam());
    fill(parts.values(), seed());
    std::vector<float> expected(n * ranks);
    MPI_Alltoall(parts.values().data(), static_cast<int>(n), MPI_FLOAT, expected.data(),
                 static_cast<int>(n), MPI_FLOAT, MPI_COMM_WORLD);
    all_to_all<float>(comm(), parts.values(), received.values()).wait();
    EXPECT_TRUE(std::ranges::equal(received.values(), expected)) << n;
  }
}

TEST_P(Mpi, BroadcastFromEveryRoot) {
  for (const std::size_t n : kSizes) {
    for (int root = 0; root < comm().size(); ++root) {
      const Buffer<float> buffer(comm(), n, GetParam());
      fill(buffer.values(), seed());
      std::vector<float> expected(n);
      fill<float>(expected, static_cast<unsigned>(root) + 1);
      broadcast<float>(comm(), buffer.values(), root).wait();
      EXPECT_TRUE(std::ranges::equal(buffer.values(), expected)) << n;
    }
  }
}

TEST_P(Mpi, NeighboursExchange) {
  const int next = (comm().rank() + 1) % comm().size();
  const int previous = (comm().rank() + comm().size() - 1) % comm().size();
  if (next == comm().rank()) {
    return;
  }
  for (const std::size_t n : kSizes) {
    const Buffer<float> mine(comm(), n, GetParam());
    const Buffer<float> theirs(comm(), n, GetParam());
    fill(mine.values(), seed());
    const Work sent = send<float>(comm(), mine.values(), next);
    const Work received = receive<float>(comm(), theirs.values(), previous);
    sent.wait();
    received.wait();
    std::vector<float> expected(n);
    fill<float>(expected, static_cast<unsigned>(previous) + 1);
    EXPECT_TRUE(std::ranges::equal(theirs.values(), expected)) << n;
  }
}

TEST_P(Mpi, BucketsUnderWayTogetherEndWithoutBeingWaitedFor) {
  std::vector<Buffer<float>> buckets;
  std::vector<Work> works;
  for (std::size_t b = 0; b < 12; ++b) {
    buckets.emplace_back(comm(), 40000 * b + 5, GetParam());
    std::ranges::fill(buckets.back().values(), 1.0F);
  }
  for (const auto& bucket : buckets) {
    works.push_back(all_reduce<float>(comm(), bucket.values()));
  }
  while (!works.back().done()) {  // the progress thread does it all
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    works[b].wait();
    EXPECT_TRUE(std::ranges::all_of(buckets[b].values(), [&](float value) {
      return value == static_cast<float>(comm().size());
    }));
  }
}

TEST_P(Mpi, SplitGroupsWorkAlone) {
  const int color = comm().rank() % 2;
  const auto part = comm().split(color, comm().rank(), "part");
  const Buffer<std::int32_t> buffer(*part, 100000, GetParam());
  std::ranges::fill(buffer.values(), 1);
  all_reduce<std::int32_t>(*part, buffer.values()).wait();
  EXPECT_TRUE(std::ranges::all_of(buffer.values(),
                                  [&](std::int32_t value) { return value == part->size(); }));
  const Buffer<std::int32_t> of_world(comm(), 100000, GetParam());  // reaches the part's ranks too
  std::ranges::fill(of_world.values(), 2);
  all_reduce<std::int32_t>(*part, of_world.values()).wait();
  EXPECT_TRUE(std::ranges::all_of(of_world.values(),
                                  [&](std::int32_t value) { return value == 2 * part->size(); }));
}

}  // namespace
}  // namespace tessera::dist
