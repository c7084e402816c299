// Collectives on tensors: they come after the work on their operands, and later work after them,
// though nobody waits, on the host and on a device whose memory the host cannot touch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <tessera/core/device/hazards.h>
#include <tessera/core/device/stream.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

#include "support/error_of.h"
#include "support/guarded_device.h"
#include "support/tensor_collectives.h"

namespace tessera::dist {
namespace {

using test::Counts;
using test::guarded_device;
using test::GuardedRun;
using test::kElements;

constexpr int kRanks = 2;

Collective sum_of(const Tensor& x) {
  Collective c{.kind = CollectiveKind::all_reduce, .dtype = x.dtype()};
  c.send = c.receive = Operand(x);
  c.count = static_cast<std::size_t>(x.numel());
  return c;
}

TEST(OrderedCollectives, need_no_wait_on_the_host) {
  run_ranks(kRanks, [](Communicator& comm) {
    for (int i = 0; i < 20; ++i) {
      test::expect_sums_without_waiting(comm, Device{});
      test::expect_parts_without_waiting(comm, Device{});
    }
  });
}

TEST(OrderedCollectives, need_no_wait_on_a_device) {
  for (const std::uint64_t order : test::orders(10, 3)) {
    GuardedRun run(order);
    run_ranks(kRanks, [](Communicator& comm) {
      test::expect_sums_without_waiting(comm, guarded_device(comm.rank()));
      test::expect_parts_without_waiting(comm, guarded_device(comm.rank()));
    });
    EXPECT_EQ(run.reports(), std::vector<std::string>{});
  }
}

/// Runs `work` on ranks with guarded devices once, then without each of its waits in turn, which
/// the clocks report. Returns how many there are.
template <class Work>
std::size_t expect_every_wait_is_missed(std::uint64_t order, const Work& work) {
  const auto on_ranks = [&] {
    run_ranks(kRanks, [&](Communicator& comm) { work(comm, guarded_device(comm.rank())); });
  };
  std::size_t waits = 0;
  {
    GuardedRun run(order);
    on_ranks();
    EXPECT_EQ(run.reports(), std::vector<std::string>{});
    waits = run.waits();
  }
  std::size_t seen = 0;
  for (std::size_t i = 0; i < waits; ++i) {
    GuardedRun run(order, i);
    on_ranks();
    const bool came = run.waits() > i;  // ranks are threads: now and then one needs no wait
    EXPECT_TRUE(!came || !run.reports().empty()) << "wait " << i << " of " << waits;
    seen += came ? 1 : 0;
  }
  EXPECT_GE(2 * seen, waits);
  return waits;
}

TEST(OrderedCollectives, are_missed_by_the_clocks_whichever_wait_is_left_out) {
  std::size_t most = 0, most_of_collectives = 0;
  for (const std::uint64_t order : test::orders(10, 3)) {
    most = std::max(most, expect_every_wait_is_missed(order, [](auto& comm, const Device& device) {
                      static_cast<void>(test::sums_without_waiting(comm, device));
                    }));
    const auto sum = [](Communicator& comm, const Device& device) {  // which alone waits here
      comm.launch(sum_of(full({kElements}, 2, {.device = device}) * 3)).wait();
    };
    most_of_collectives = std::max(most_of_collectives, expect_every_wait_is_missed(order, sum));
  }
  EXPECT_GE(most, 4U);
  EXPECT_GE(most_of_collectives, 2U);
}

TEST(UnevenParts, are_gathered_and_scattered_by_count) {
  for (const bool direct : {true, false}) {
    for (const auto& counts :
         std::vector<Counts>{{3, 5, 0}, {0, 0, 7}, {0, 0, 0}, {4, 4, 4}, {1, 20000, 3}}) {
      run_ranks(3, [&](Communicator& comm) { test::expect_uneven_parts(comm, counts); },
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

/// The rank that finds out when it launches, too.
TEST(OrderedCollectives, hand_an_error_of_their_launch_to_readers) {
  const auto ranks = make_loopback(kRanks);
  const Tensor x = ones({10}), y = ones({11});
  static_cast<void>(ranks[0]->launch(sum_of(x)));
  static_cast<void>(ranks[1]->launch(sum_of(y)));
  for (const Tensor& each : {x, y}) {
    EXPECT_THAT(testing_support::error_of<Desync>([&] { static_cast<void>(each * 2); }),
                testing::HasSubstr("disagree"));
  }
}

TEST(OrderedCollectives, exchange_parts_of_one_tensor) {
  for (const std::int64_t n : {std::int64_t{100}, std::int64_t{300'000}}) {
    run_ranks(kRanks, [n](Communicator& comm) {
      const Tensor x = full({2 * n}, comm.rank());
      Collective receive{.kind = CollectiveKind::receive};
      receive.receive = Operand(slice(x, 0, n, 2 * n));
      Collective send{.kind = CollectiveKind::send};
      send.send = Operand(slice(x, 0, 0, n));
      send.count = receive.count = static_cast<std::size_t>(n);
      send.peer = receive.peer = 1 - comm.rank();
      static_cast<void>(comm.launch(receive));
      static_cast<void>(comm.launch(send));
      EXPECT_EQ(x.to_vector<float>().back(), static_cast<float>(1 - comm.rank()));
      EXPECT_EQ(x.to_vector<float>().front(), static_cast<float>(comm.rank()));
    });
  }
}

/// A read of all that came before a write of a part is no read since.
TEST(OrderedCollectives, are_all_waited_for_where_a_part_is_written) {
  const auto ranks = make_loopback(kRanks);
  constexpr std::int64_t kMany = 1 << 22;  // more than a mailbox takes
  const Tensor x = zeros({2 * kMany});
  Collective send{.kind = CollectiveKind::send, .peer = 1};
  send.send = Operand(x);
  send.count = static_cast<std::size_t>(2 * kMany);
  Collective receive{.kind = CollectiveKind::receive, .peer = 1};
  receive.receive = Operand(slice(x, 0, 0, kMany));
  receive.count = static_cast<std::size_t>(kMany);
  static_cast<void>(ranks[0]->launch(send));
  // The receive comes after the send, which nobody takes: both are under way.
  static_cast<void>(ranks[0]->launch(receive));
  EXPECT_EQ(tickets_before(*x.get().storage, true).size(), 2U);
  EXPECT_EQ(tickets_before(*x.get().storage, false).size(), 1U);
}

/// Of a tensor over memory that is somebody else's, too.
TEST(OrderedCollectives, are_waited_for_where_the_tensor_owns_nothing) {
  std::vector<float> memory(1 << 22);
  const auto ranks = make_loopback(kRanks);
  const Tensor x = from_memory(memory.data(), {std::ssize(memory)}, DType::f32, nullptr);
  Collective send{.kind = CollectiveKind::send, .peer = 1};
  send.send = Operand(x);
  send.count = memory.size();
  static_cast<void>(ranks[0]->launch(send));
  EXPECT_EQ(tickets_before(*x.get().storage, true).size(), 1U);
}

TEST(OrderedCollectives, count_as_writes) {
  run_ranks(kRanks, [](Communicator& comm) {
    const Tensor x = full({kElements}, 3);
    const Tensor w = ones({kElements}).set_requires_grad(true);
    const Tensor y = w * x;
    static_cast<void>(comm.launch(sum_of(x)));
    EXPECT_THAT(testing_support::error_of([&] { y.backward(x); }),
                testing::HasSubstr("changed in place"));
  });
}

/// Nothing came of them, but the memory is not free before the work that they would have waited
/// for.
TEST(OrderedCollectives, hold_memory_for_others_where_they_never_began) {
  for (const std::uint64_t order : test::orders(10, 3)) {
    GuardedRun run(order);
    {
      const Stream side(guarded_device(), "side");
      auto ranks = make_loopback(kRanks);
      Tensor x = zeros({kElements}, {.device = guarded_device()});
      {
        const StreamScope scope(side.id());
        for (int i = 0; i < 20; ++i) {
          add_(x, x);
        }
      }
      static_cast<void>(ranks[0]->launch(sum_of(x)));
      ranks.clear();
      x = Tensor();
    }
    EXPECT_EQ(run.reports(), std::vector<std::string>{});
  }
}

TEST(OrderedCollectives, fit_their_operands) {
  const auto ranks = make_loopback(1);
  Collective c = sum_of(ones({4}));
  c.count = 5;
  EXPECT_EQ(testing_support::error_of<InvalidArgument>([&] { ranks[0]->launch(c); }),
            "all_reduce: send is too small; got 4 f32, expected 5");
  c = sum_of(ones({4}, {.dtype = DType::f64}));
  c.dtype = DType::f32;
  EXPECT_EQ(testing_support::error_of<InvalidArgument>([&] { ranks[0]->launch(c); }),
            "all_reduce: send has another dtype; got f64, expected f32");
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
