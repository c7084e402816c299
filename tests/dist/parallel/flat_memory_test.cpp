// Tensors on one flat space: what they share, and what not.
#include <tessera/dist/parallel/flat_memory.h>

#include <gtest/gtest.h>

#include <tessera/core/device/hazards.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/loopback.h>

#include "support/error_of.h"
#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

FlatMemory make_space(Communicator& comm, const Device& device) {
  return {comm, device, 12, MemoryCategory::gradient};
}

TEST(FlatMemory, is_of_zeros_on_any_device) {
  const test::GuardedRun run(1);
  run_ranks(1, [](Communicator& comm) {
    for (const Device& device : {Device{}, test::guarded_device()}) {
      const Tensor x = make_space(comm, device).at(4, {2, 3});
      EXPECT_EQ(x.device(), device);
      EXPECT_EQ(x.to_vector<float>(), std::vector<float>(6, 0));
    }
  });
}

TEST(FlatMemory, gives_each_tensor_a_version_of_its_own) {
  run_ranks(1, [](Communicator& comm) {
    const FlatMemory flat = make_space(comm, Device{});
    const Tensor first = flat.at(0, {4}), second = flat.at(4, {4}), all = flat.at(0, {12});
    static_cast<void>(add_(first, 3));
    EXPECT_EQ(all.to_vector<float>(), (std::vector<float>{3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_GT(first.version(), second.version());
    EXPECT_FALSE(first.shares_storage(second));
  });
}

/// Work on a part, on another stream than what follows on all of it and on other parts.
TEST(FlatMemory, orders_work_on_the_same_bytes_alone) {
  for (std::uint64_t order = 0; order < 10; ++order) {
    test::GuardedRun run(order);
    run_ranks(1, [](Communicator& comm) {
      const FlatMemory flat = make_space(comm, test::guarded_device());
      const Stream side(test::guarded_device(), "side");
      {
        const StreamScope scope(side.id());
        static_cast<void>(add_(flat.at(4, {4}), 5));
      }
      static_cast<void>(add_(flat.at(8, {4}), 2));
      const Tensor all = flat.at(0, {12}) * 2.0;
      static_cast<void>(add_(flat.at(4, {2}), 1));
      EXPECT_EQ(all.to_vector<float>(),
                (std::vector<float>{0, 0, 0, 0, 10, 10, 10, 10, 4, 4, 4, 4}));
      EXPECT_EQ(flat.at(4, {4}).to_vector<float>(), (std::vector<float>{6, 6, 5, 5}));
    });
    EXPECT_EQ(run.reports(), std::vector<std::string>{}) << order;
  }
}

TEST(FlatMemory, does_not_hand_on_a_write_that_is_put_off) {
  run_ranks(1, [](Communicator& comm) {
    const FlatMemory flat = make_space(comm, Device{});
    const Tensor one = flat.at(0, {4}), other = flat.at(4, {4});
    auto meanwhile = std::make_shared<int>();
    put_off_write(*one.get().storage, meanwhile, "one", "is put off");
    EXPECT_EQ(testing_support::error_of([&] { static_cast<void>(one + other); }),
              "\"one\" is put off");
    EXPECT_EQ((other * 1.0).to_vector<float>(), std::vector<float>(4, 0));
    meanwhile.reset();
    EXPECT_EQ((one * 1.0).to_vector<float>(), std::vector<float>(4, 0));
    EXPECT_FALSE(one.get().storage->has_hazards());
  });
}

TEST(FlatMemory, outlives_its_handle_in_its_tensors) {
  run_ranks(1, [](Communicator& comm) {
    Tensor x;
    {
      const FlatMemory flat = make_space(comm, Device{});
      x = flat.at(3, {5});
    }
    EXPECT_EQ((x + 1.0).to_vector<float>(), std::vector<float>(5, 1));
  });
}

TEST(FlatMemory, holds_a_tensor_that_stays_the_same) {
  run_ranks(1, [](Communicator& comm) {
    const FlatMemory flat = make_space(comm, Device{});
    const Tensor x = full({2, 2}, 7);
    static_cast<void>(add_(x, 1));
    const std::uint32_t version = x.version();
    flat.at(6, {2, 2}).copy_(x);
    flat.hold(x, 6);
    EXPECT_EQ(x.version(), version);
    const FlatRange range = flat.range_of(x, "x");
    EXPECT_EQ(range.first, 6);
    EXPECT_EQ(range.last, 10);
    EXPECT_EQ(flat.at(0, {12}).to_vector<float>()[6], 8);
    EXPECT_EQ(testing_support::error_of([&] {
                static_cast<void>(flat.range_of(full({2}, 1), "data_parallel: a parameter"));
              }),
              "data_parallel: a parameter lies outside the memory that ranks share: its tensor was "
              "replaced after data_parallel was applied");
  });
}

TEST(FlatRange, knows_what_two_have_in_common) {
  const auto count = [](FlatRange a, FlatRange b) { return a.common_with(b).count(); };
  EXPECT_EQ(count({2, 8}, {4, 12}), 4);
  EXPECT_EQ(count({2, 8}, {0, 3}), 1);
  EXPECT_EQ(count({2, 8}, {8, 12}), 0);
  EXPECT_EQ(count({2, 8}, {20, 30}), 0);
  EXPECT_EQ(count({20, 30}, {2, 8}), 0);
}

}  // namespace
}  // namespace tessera::dist
