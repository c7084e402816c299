// Memory that a failed collective used is nobody else's while MPI may still write to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>

#include "world.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kCount = 1 << 17;

/// Launches one in a group that rank 0 gives up `after` so long, wherever the ranks are then.
void fail_in_the_middle(Communicator& group, CollectiveKind kind, std::chrono::microseconds after) {
  Collective c{.kind = kind, .count = kCount, .peer = 1};
  if (kind == CollectiveKind::send || kind == CollectiveKind::receive) {
    c.peer = group.size() - 1 - group.rank();  // of another host, where there are several
    if (c.peer == group.rank()) {
      return;
    }
  }
  c.send = Operand(full({group.size() * kCount}, 1));
  c.receive = Operand(full({group.size() * kCount}, 2));
  try {
    const Work work = group.launch(c);
    if (group.rank() == 0) {
      std::this_thread::sleep_for(after);
      group.abort(std::make_exception_ptr(CommError("given up")));
    }
    work.wait();
  } catch (const CommError&) {  // unless it had ended before
  }
}

/// What this rank launches where rank 0 launches `kind`.
CollectiveKind role_of(const Communicator& world, CollectiveKind kind) {
  const bool front = world.rank() < world.size() / 2;
  if (front || (kind != CollectiveKind::send && kind != CollectiveKind::receive)) {
    return kind;
  }
  return kind == CollectiveKind::send ? CollectiveKind::receive : CollectiveKind::send;
}

class FailedOverMpi : public testing::TestWithParam<CollectiveKind> {};
INSTANTIATE_TEST_SUITE_P(, FailedOverMpi,
                         testing::Values(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                         CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                         CollectiveKind::broadcast, CollectiveKind::send,
                                         CollectiveKind::receive),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST_P(FailedOverMpi, LeavesMemoryAloneThatOthersGotMeanwhile) {
  Communicator& world = *test_world().communicator();
  if (world.size() == 1) {
    return;
  }
  const CollectiveKind kind = role_of(world, GetParam());
  for (const int after : {0, 100, 300, 1000}) {
    const auto group = world.split(0, world.rank(), "given up");
    fail_in_the_middle(*group, kind, std::chrono::microseconds(after));
    const Tensor fresh[] = {full({world.size() * kCount}, 3), full({world.size() * kCount}, 3)};
    for (int i = 0; i < 3; ++i) {
      barrier(world).wait();  // and what is under way arrives
    }
    for (const Tensor& x : fresh) {
      const auto values = x.to_vector<float>();
      EXPECT_EQ(std::ranges::count(values, 3.0F), x.numel());
    }
  }
}

}  // namespace
}  // namespace tessera::dist
