// Collectives on tensors: they come after the work on their operands, and later work after them,
// though nobody waits, on the host and on a device whose memory the host cannot touch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

#include "support/error_of.h"
#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

using test::guarded_device;
using test::GuardedRun;

using Counts = std::vector<std::size_t>;

constexpr int kRanks = 2;
constexpr std::int64_t kElements = 5000;  // more than travels inside a descriptor

Collective sum_of(const Tensor& x) {
  Collective c{.kind = CollectiveKind::all_reduce, .dtype = x.dtype()};
  c.send = c.receive = Operand(x);
  c.count = static_cast<std::size_t>(x.numel());
  return c;
}

/// (1 + rank) * 3, summed over ranks, doubled; then the sum is overwritten.
void sum_without_waiting(Communicator& comm, const Device& device) {
  const Tensor mine = full({kElements}, 1 + comm.rank(), {.device = device});
  const Tensor sum = mine * 3;
  static_cast<void>(comm.launch(sum_of(sum)));
  const Tensor twice = sum * 2;
  add_(sum, mine);
  EXPECT_EQ(twice.to_vector<float>(), std::vector<float>(kElements, 18));
  EXPECT_EQ(sum.to_vector<float>(),
            std::vector<float>(kElements, static_cast<float>(10 + comm.rank())));
}

TEST(OrderedCollectives, need_no_wait_on_the_host) {
  run_ranks(kRanks, [](Communicator& comm) {
    for (int i = 0; i < 20; ++i) {
      sum_without_waiting(comm, Device{});
    }
  });
}

TEST(OrderedCollectives, need_no_wait_on_a_device) {
  for (std::uint64_t order = 0; order < 10; ++order) {
    GuardedRun run(order);
    run_ranks(kRanks,
              [](Communicator& comm) { sum_without_waiting(comm, guarded_device(comm.rank())); });
    EXPECT_EQ(run.reports(), std::vector<std::string>{});
  }
}

TEST(OrderedCollectives, gather_and_scatter_what_lies_on_a_device) {
  GuardedRun run(3);
  run_ranks(kRanks, [](Communicator& comm) {
    const Device device = guarded_device(comm.rank());
    const Tensor mine = arange(kElements, {.device = device}) + 100000 * comm.rank();
    const Tensor all = zeros({kRanks, kElements}, {.device = device});
    Collective gather{.kind = CollectiveKind::all_gather};
    gather.send = Operand(mine);
    gather.receive = Operand(all);
    gather.count = static_cast<std::size_t>(kElements);
    static_cast<void>(comm.launch(gather));
    Collective scatter{.kind = CollectiveKind::reduce_scatter};
    const Tensor part = zeros({kElements}, {.device = device});
    scatter.send = Operand(all);
    scatter.receive = Operand(part);
    scatter.count = static_cast<std::size_t>(kElements);
    static_cast<void>(comm.launch(scatter));
    EXPECT_EQ(part.to_vector<float>(), (mine * 2).to_vector<float>());
  });
  EXPECT_EQ(run.reports(), std::vector<std::string>{});
}

/// Part r is r * 1000 + 0, 1, 2, ....
std::vector<float> parts_of(const Counts& counts) {
  std::vector<float> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::size_t i = 0; i < counts[r]; ++i) {
      all.push_back(static_cast<float>(r * 1000 + i));
    }
  }
  return all;
}

void gather_and_scatter_unevenly(Communicator& comm, const Counts& counts) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const std::vector<float> expected = parts_of(counts);
  const auto begin =
      static_cast<std::ptrdiff_t>(std::reduce(counts.begin(), counts.begin() + comm.rank()));
  const std::vector<float> mine(
      expected.begin() + begin,
      expected.begin() + begin + static_cast<std::ptrdiff_t>(counts[rank]));
  std::vector<float> all(expected.size(), -1);
  all_gather<float>(comm, mine, all, counts).wait();
  EXPECT_EQ(all, expected);
  std::vector<float> part(counts[rank], -1);
  reduce_scatter<float>(comm, all, part, counts).wait();
  for (std::size_t i = 0; i < part.size(); ++i) {
    EXPECT_EQ(part[i], mine[i] * static_cast<float>(comm.size()));
  }
}

TEST(UnevenParts, are_gathered_and_scattered_by_count) {
  for (const bool direct : {true, false}) {
    for (const auto& counts :
         std::vector<Counts>{{3, 5, 0}, {0, 0, 7}, {0, 0, 0}, {4, 4, 4}, {1, 20000, 3}}) {
      run_ranks(3, [&](Communicator& comm) { gather_and_scatter_unevenly(comm, counts); },
                {.direct = direct});
    }
  }
}

TEST(UnevenParts, must_be_the_same_on_all_ranks_and_fit) {
  const auto differ = [](Communicator& comm) {
    const Counts counts{2, comm.rank() == 0 ? 3U : 1U, 3};
    std::vector<float> mine(counts[static_cast<std::size_t>(comm.rank())]);
    std::vector<float> all(std::reduce(counts.begin(), counts.end()));
    all_gather<float>(comm, mine, all, counts).wait();
  };
  EXPECT_THAT(testing_support::error_of<Desync>([&] { run_ranks(3, differ); }),
              testing::HasSubstr("in the sizes of parts"));
  const auto ranks = make_loopback(2);
  std::vector<float> all(5);
  EXPECT_EQ(testing_support::error_of<InvalidArgument>([&] {
              all_gather<float>(*ranks[0], std::vector<float>(2), all, Counts{2, 2, 1});
            }),
            "all_gather: wrong number of counts; got 3, expected one for each of 2 ranks");
  EXPECT_EQ(testing_support::error_of<InvalidArgument>([&] {
              all_gather<float>(*ranks[0], std::vector<float>(1), all, Counts{2, 3});
            }),
            "all_gather: the count is not this rank's; got 1, expected 2 as in the counts by rank");
}

TEST(OrderedCollectives, hand_their_error_to_who_reads_the_result) {
  const std::vector<std::shared_ptr<Communicator>> ranks = make_loopback(kRanks);
  const Tensor x = ones({kElements});
  const Work work = ranks[0]->launch(sum_of(x));
  ranks[0]->abort(std::make_exception_ptr(CommError("the network is gone")));
  EXPECT_THAT(testing_support::error_of<CommError>([&] { static_cast<void>(x * 2); }),
              testing::HasSubstr("the network is gone"));
  EXPECT_THAT(
      testing_support::error_of<CommError>([&] { static_cast<void>(x.to_vector<float>()); }),
      testing::HasSubstr("the network is gone"));
}

TEST(OrderedCollectives, are_missed_where_their_group_ended_first) {
  std::vector<std::shared_ptr<Communicator>> ranks = make_loopback(kRanks);
  const Tensor x = ones({kElements});
  static_cast<void>(ranks[0]->launch(sum_of(x)));
  ranks.clear();
  EXPECT_THAT(testing_support::error_of<CommError>([&] { static_cast<void>(x * 2); }),
              testing::HasSubstr("was destroyed before its work was done"));
}

TEST(OrderedCollectives, take_dense_operands) {
  const Tensor x = zeros({4, 4});
  const Tensor columns = select(x, 1, 0);
  EXPECT_EQ(
      testing_support::error_of<InvalidArgument>([&] { static_cast<void>(Operand(columns)); }),
      "collective: the operand is not dense; got shape (4,) with strides (4,)");
}

}  // namespace
}  // namespace tessera::dist
