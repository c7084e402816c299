// Who reads the result of a collective to which a rank never comes is told so, and does not wait
// for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/loopback.h>

#include "support/error_of.h"
#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;
using Read = std::function<void(const Tensor&)>;

constexpr LoopbackOptions kSoon{.deadline = 200ms};
constexpr std::int64_t kAwaited = 5000;  // more than travels inside a descriptor

void read_on_the_host(const Tensor& x) {
  static_cast<void>(x.to_vector<float>());
}

void compute_from(const Tensor& x) {
  static_cast<void>((x * 2).to_vector<float>());
}

/// Two ranks of three read what an all_reduce is to bring, without waiting for it; the last one
/// does not launch it.
void read_unfinished(Communicator& comm, const Device& device, const Read& read) {
  const Tensor x = ones({kAwaited}, {.device = device});
  if (comm.rank() == 2) {
    while (!comm.heartbeat_table()->failure().written()) {
      std::this_thread::sleep_for(1ms);  // computes for ever
    }
    return;
  }
  Collective sum{.kind = CollectiveKind::all_reduce};
  sum.send = sum.receive = Operand(x);
  sum.count = static_cast<std::size_t>(kAwaited);
  sum.label = "bucket 7";
  static_cast<void>(comm.launch(std::move(sum)));
  for (int i = 0; i < 2; ++i) {  // at the deadline, and afterwards
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = testing_support::error_of<Timeout>([&] { read(x); });
    EXPECT_THAT(error, testing::HasSubstr("all_reduce 1 'bucket 7'"));
    EXPECT_THAT(error, testing::HasSubstr("missing: rank 2 (host "));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  }
}

TEST(UnfinishedResults, tell_a_reader_on_the_host_who_is_missing) {
  for (const Read& read : {Read(read_on_the_host), Read(compute_from)}) {
    run_ranks(
        3, [&](Communicator& comm) { read_unfinished(comm, Device{}, read); }, kSoon);
  }
}

TEST(UnfinishedResults, tell_a_reader_on_a_device_who_is_missing) {
  for (const std::uint64_t order : test::orders(5, 2)) {
    for (const Read& read : {Read(read_on_the_host), Read(compute_from)}) {
      test::GuardedRun run(order);
      const auto body = [&](Communicator& comm) {
        read_unfinished(comm, test::guarded_device(comm.rank()), read);
      };
      run_ranks(3, body, kSoon);
      EXPECT_EQ(run.reports(), std::vector<std::string>{}) << "order " << order;
    }
  }
}

}  // namespace
}  // namespace tessera::dist
