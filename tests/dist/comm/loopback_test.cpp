// Collectives between threads against a serial loop over all ranks' data.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

// Sizes on both sides of every border: nothing, inside a descriptor, one staging buffer, several.
const std::vector<std::size_t> kSizes{0, 1, 3, 63, 64, 257, 2049, 70001, 300007};

/// A value that differs by rank and place, exact in every dtype.
template <class T>
T value_at(int rank, std::size_t i) {
  const int small = static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 3) % 5);
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(small));
  } else {
    return static_cast<T>(static_cast<float>(small));
  }
}

template <class T>
std::vector<T> numbers_of(int rank, std::size_t n, std::size_t first = 0) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = value_at<T>(rank, first + i);
  }
  return values;
}

template <class T>
bool same_bits(const T* a, const T* b, std::size_t n) {
  return n == 0 || std::memcmp(a, b, n * sizeof(T)) == 0;
}

template <class T>
std::vector<T> serial_sum(int ranks, std::size_t n, std::size_t first = 0) {
  std::vector<T> sum = numbers_of<T>(0, n, first);
  for (int rank = 1; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        sum[i] = T(static_cast<float>(sum[i]) + static_cast<float>(value_at<T>(rank, first + i)));
      } else {
        sum[i] = static_cast<T>(sum[i] + value_at<T>(rank, first + i));
      }
    }
  }
  return sum;
}

struct Case {
  int ranks;
  bool direct;
};

class Loopback : public testing::TestWithParam<Case> {
 protected:
  static void run(const std::function<void(Communicator&)>& body) {
    run_ranks(GetParam().ranks, body, {.direct = GetParam().direct});
  }
};

INSTANTIATE_TEST_SUITE_P(, Loopback,
                         testing::Values(Case{1, true}, Case{2, true}, Case{3, true}, Case{4, true},
                                         Case{8, true}, Case{1, false}, Case{2, false},
                                         Case{3, false}, Case{4, false}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.ranks) +
                                  (tested.param.direct ? "_direct" : "_staged");
                         });

template <class T>
void check_all_reduce(Communicator& comm, std::size_t n) {
  const std::vector<T> expected = serial_sum<T>(comm.size(), n);
  std::vector<T> values = numbers_of<T>(comm.rank(), n);
  all_reduce<T>(comm, values).wait();
  EXPECT_TRUE(same_bits(values.data(), expected.data(), n)) << dtype_of<T> << " " << n;
}

TEST_P(Loopback, AllReduceOfEveryDtype) {
  run([](Communicator& comm) {
    for (const std::size_t n : kSizes) {
      check_all_reduce<std::uint8_t>(comm, n);
      check_all_reduce<std::int8_t>(comm, n);
      check_all_reduce<std::int16_t>(comm, n);
      check_all_reduce<std::int32_t>(comm, n);
      check_all_reduce<std::int64_t>(comm, n);
      check_all_reduce<Float16>(comm, n);
      check_all_reduce<BFloat16>(comm, n);
      check_all_reduce<float>(comm, n);
      check_all_reduce<double>(comm, n);
      check_all_reduce<std::complex<float>>(comm, n);
      check_all_reduce<std::complex<double>>(comm, n);
    }
  });
}

TEST_P(Loopback, AllReduceOutOfPlaceLeavesTheInput) {
  run([](Communicator& comm) {
    for (const std::size_t n : kSizes) {
      const std::vector<float> mine = numbers_of<float>(comm.rank(), n);
      const std::vector<float> copy = mine;
      const std::vector<float> expected = serial_sum<float>(comm.size(), n);
      std::vector<float> sum(n);
      comm.launch(collective_of<float>(CollectiveKind::all_reduce, mine.data(), sum.data(), n))
          .wait();
      EXPECT_TRUE(same_bits(sum.data(), expected.data(), n));
      EXPECT_EQ(mine, copy);
    }
  });
}

TEST_P(Loopback, MinAndMax) {
  run([](Communicator& comm) {
    for (const std::size_t n : kSizes) {
      std::vector<float> least(n, static_cast<float>(comm.rank()));
      std::vector<float> most = least;
      all_reduce<float>(comm, least, ReduceOp::min).wait();
      all_reduce<float>(comm, most, ReduceOp::max).wait();
      EXPECT_EQ(least, std::vector<float>(n, 0.0F));
      EXPECT_EQ(most, std::vector<float>(n, static_cast<float>(comm.size() - 1)));
    }
  });
}

TEST_P(Loopback, AllGather) {
  run([](Communicator& comm) {
    for (const std::size_t n : kSizes) {
      std::vector<std::int32_t> expected;
      for (int rank = 0; rank < comm.size(); ++rank) {
        const auto part = numbers_of<std::int32_t>(rank, n);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const auto mine = numbers_of<std::int32_t>(comm.rank(), n);
      std::vector<std::int32_t> all(expected.size());
      all_gather<std::int32_t>(comm, mine, all).wait();
      EXPECT_EQ(all, expected);

      std::vector<std::int32_t> in_place(expected.size());  // equal pointers
      std::copy(mine.begin(), mine.end(), in_place.begin());
      all_gather<std::int32_t>(comm, std::span(in_place).first(n), in_place).wait();
      EXPECT_EQ(in_place, expected);

      std::vector<std::int32_t> own_place(expected.size());
      const std::size_t begin = n * static_cast<std::size_t>(comm.rank());
      std::copy(mine.begin(), mine.end(), own_place.begin() + static_cast<std::ptrdiff_t>(begin));
      all_gather<std::int32_t>(comm, std::span(own_place).subspan(begin, n), own_place).wait();
      EXPECT_EQ(own_place, expected);
    }
  });
}

TEST_P(Loopback, ReduceScatter) {
  run([](Communicator& comm) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (const std::size_t n : kSizes) {
      const auto begin = n * static_cast<std::size_t>(comm.rank());
      const std::vector<float> expected = serial_sum<float>(comm.size(), n, begin);
      std::vector<float> all = numbers_of<float>(comm.rank(), n * ranks);
      std::vector<float> mine(n);
      reduce_scatter<float>(comm, all, mine).wait();
      EXPECT_EQ(mine, expected);

      reduce_scatter<float>(comm, all, std::span(all).first(n)).wait();  // equal pointers
      EXPECT_TRUE(same_bits(all.data(), expected.data(), n));

      std::vector<float> own = numbers_of<float>(comm.rank(), n * ranks);
      reduce_scatter<float>(comm, own, std::span(own).subspan(begin, n)).wait();
      EXPECT_TRUE(same_bits(own.data() + begin, expected.data(), n));
    }
  });
}

TEST_P(Loopback, AllToAll) {
  run([](Communicator& comm) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (const std::size_t n : kSizes) {
      std::vector<float> expected;
      for (int rank = 0; rank < comm.size(); ++rank) {
        const auto part = numbers_of<float>(rank, n, n * static_cast<std::size_t>(comm.rank()));
        expected.insert(expected.end(), part.begin(), part.end());
      }
      std::vector<float> parts = numbers_of<float>(comm.rank(), n * ranks);
      std::vector<float> received(n * ranks);
      all_to_all<float>(comm, parts, received).wait();
      EXPECT_EQ(received, expected);
      all_to_all<float>(comm, parts, parts).wait();
      EXPECT_EQ(parts, expected);
    }
  });
}

TEST_P(Loopback, BroadcastFromEveryRoot) {
  run([](Communicator& comm) {
    for (const std::size_t n : kSizes) {
      for (int root = 0; root < comm.size(); ++root) {
        std::vector<double> values = numbers_of<double>(comm.rank(), n);
        broadcast<double>(comm, values, root).wait();
        EXPECT_EQ(values, numbers_of<double>(root, n));
      }
    }
  });
}

TEST_P(Loopback, NeighboursExchangeInAnyOrder) {
  run([](Communicator& comm) {
    if (comm.size() == 1) {
      return;
    }
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    for (const std::size_t n : kSizes) {
      const auto mine = numbers_of<float>(comm.rank(), n);
      std::vector<float> theirs(n);
      // Everybody sends first: this must not need a receiver that is already there.
      const Work sent = send<float>(comm, mine, next);
      const Work received = receive<float>(comm, theirs, previous);
      received.wait();
      sent.wait();
      EXPECT_EQ(theirs, numbers_of<float>(previous, n));
    }
  });
}

TEST_P(Loopback, ManyUnderWayAtOnce) {
  run([](Communicator& comm) {
    constexpr std::size_t kBuckets = 20;
    std::vector<std::vector<float>> buckets;
    std::vector<Work> works;
    for (std::size_t b = 0; b < kBuckets; ++b) {
      buckets.push_back(numbers_of<float>(comm.rank(), 1000 * b + 1));
    }
    for (auto& bucket : buckets) {
      works.push_back(all_reduce<float>(comm, bucket));
    }
    for (std::size_t b = kBuckets; b-- > 0;) {
      works[b].wait();
      EXPECT_EQ(buckets[b], serial_sum<float>(comm.size(), buckets[b].size()));
    }
  });
}

TEST_P(Loopback, AllReduceOverAGrainHasTheBitsOfTheSerialTree) {
  constexpr std::size_t kGrain = 8;
  constexpr std::size_t kLength = 50021;
  const auto microbatch = [](std::size_t index) {
    std::vector<float> values(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
      values[i] = 1.0F / static_cast<float>(3 + (i * 31 + index * 17) % 1009);
    }
    return values;
  };
  const std::function<std::vector<float>(std::size_t, std::size_t)> serial = [&](std::size_t first,
                                                                                 std::size_t size) {
    if (size == 1) {
      return microbatch(first);
    }
    std::vector<float> left = serial(first, size / 2);
    const std::vector<float> right = serial(first + size / 2, size / 2);
    for (std::size_t i = 0; i < kLength; ++i) {
      left[i] += right[i];
    }
    return left;
  };
  const std::vector<float> expected = serial(0, kGrain);
  run([&](Communicator& comm) {
    auto tree = std::make_shared<ReductionTree>(
        ReductionTree::over_grain(static_cast<std::int64_t>(kGrain), comm.size()));
    std::vector<float> blocks;
    for (const TreeLeaf& leaf : tree->of_rank(comm.rank())) {
      const auto block =
          serial(static_cast<std::size_t>(leaf.first), static_cast<std::size_t>(leaf.size));
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
    Collective c =
        collective_of<float>(CollectiveKind::all_reduce, blocks.data(), blocks.data(), kLength);
    c.tree = tree;
    comm.launch(c).wait();
    EXPECT_TRUE(same_bits(blocks.data(), expected.data(), kLength));
  });
}

TEST_P(Loopback, SplitGroupsWorkAlone) {
  run([](Communicator& comm) {
    const int color = comm.rank() % 2;
    const auto half = comm.split(color, -comm.rank(), "half");
    EXPECT_EQ(half->size(), (comm.size() + 1 - color) / 2);
    EXPECT_EQ(half->rank(), half->size() - 1 - comm.rank() / 2);  // ordered by key
    std::vector<std::int64_t> ranks{comm.rank()};
    all_reduce<std::int64_t>(*half, ranks).wait();
    std::int64_t expected = 0;
    for (int rank = color; rank < comm.size(); rank += 2) {
      expected += rank;
    }
    EXPECT_EQ(ranks[0], expected);
  });
}

TEST_P(Loopback, WorkOutlivesItsCommunicator) {
  run([](Communicator& comm) {
    auto group = comm.split(0, comm.rank(), "short-lived");
    std::vector<float> done(5000, 1), never(5000, 1);
    const Work finished = all_reduce<float>(*group, done);
    finished.wait();
    Work cut_off;
    if (comm.rank() == 0) {
      cut_off = all_reduce<float>(*group, never);
    }
    const bool others_are_missing = comm.size() > 1 && comm.rank() == 0;
    group.reset();
    EXPECT_NO_THROW(finished.wait());
    EXPECT_EQ(done[4999], static_cast<float>(comm.size()));
    if (others_are_missing) {
      EXPECT_TRUE(cut_off.done());
      EXPECT_THROW(cut_off.wait(), CommError);
    }
    barrier(comm).wait();
  });
}

TEST_P(Loopback, AllocateGivesZeros) {
  run([](Communicator& comm) {
    const CommBuffer buffer = comm.allocate(100000);
    EXPECT_EQ(buffer.nbytes, 100000U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % 4096, 0U);
    EXPECT_EQ(std::count(buffer.data, buffer.data + 100000, std::byte{0}), 100000);
  });
}

TEST(LoopbackRanks, HaveAContextEach) {
  run_ranks(3, [](Communicator& comm) {
    EXPECT_EQ(Context::current().rank, comm.rank());
    EXPECT_EQ(Context::current().world_size, 3);
    EXPECT_EQ(Context::current().log_prefix, "[rank " + std::to_string(comm.rank()) + "] ");
  });
}

TEST(LoopbackRanks, TheFirstFailureReleasesEveryoneAndIsRethrown) {
  try {
    run_ranks(4, [](Communicator& comm) {
      if (comm.rank() == 2) {
        fail<IoError>("the disk of rank 2 is full");
      }
      try {
        barrier(comm).wait();
        ADD_FAILURE() << "the barrier cannot have been passed";
      } catch (const IoError& error) {
        EXPECT_STREQ(error.what(), "the disk of rank 2 is full");
        EXPECT_THROW((void)barrier(comm), IoError);  // poisoned with the first cause
        throw;
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "the disk of rank 2 is full");
  }
}

TEST(LoopbackRanks, MalformedCollectivesAreRefusedBeforeAnythingIsSent) {
  run_ranks(2, [](Communicator& comm) {
    Collective c;
    c.kind = CollectiveKind::all_reduce;
    c.count = 4;
    EXPECT_THROW((void)comm.launch(c), InvalidArgument);
    std::vector<float> values(4);
    EXPECT_THROW((void)broadcast<float>(comm, values, 2), InvalidArgument);
    EXPECT_THROW((void)send<float>(comm, values, comm.rank()), InvalidArgument);
    EXPECT_THROW((void)all_gather<float>(comm, values, values), InvalidArgument);
    barrier(comm).wait();
  });
}

}  // namespace
}  // namespace tessera::dist
