// States of an optimizer in flat memory, of which every rank fills its own part: gathered,
// completed and moved to another layout.
#include <tessera/dist/parallel/optimizer_memory.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/loopback.h>

#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

using Floats = std::vector<float>;
using Borders = std::vector<std::int64_t>;

constexpr int kRanks = 3;
const Borders kBorders{0, 4, 4, 20};  // of rank 1 nothing

/// What each rank writes to the elements that are its own.
float value_at(std::int64_t place) {
  return static_cast<float>((place < 4 ? 0 : 200) + place);
}

Floats values_from(std::int64_t offset) {
  Floats values(6);
  std::generate(values.begin(), values.end(), [&] { return value_at(offset++); });
  return values;
}

/// A slot's state of six elements, of which each rank has written its own.
Tensor filled_by_rank(OptimizerMemory& memory, const FlatSpace& space,
                      const std::shared_ptr<nn::Slot>& slot, std::int64_t offset) {
  const Tensor state = memory.make(space, slot, offset, {2, 3});
  EXPECT_EQ(state.to_vector<float>(), Floats(6, 0));
  const FlatRange own = space.part_of(space.host.rank());
  const Tensor flat = reshape(state, {6});
  for (std::int64_t i = 0; i < 6; ++i) {
    if (offset + i >= own.first && offset + i < own.last) {
      fill_(slice(flat, 0, i, i + 1), value_at(offset + i));
    }
  }
  return state;
}

void expect_gathered(Communicator& comm, const Device& device) {
  const FlatSpace space{comm, comm, device, 20, kBorders};
  const auto slot = std::make_shared<nn::Slot>();
  OptimizerMemory memory;
  const Tensor state = filled_by_rank(memory, space, slot, 2);
  memory.gather(space);
  if (comm.rank() == 0) {
    EXPECT_EQ(state.to_vector<float>(), values_from(2));
  }
  memory.complete(space);
  EXPECT_EQ(state.to_vector<float>(), values_from(2));
}

TEST(OptimizerMemory, is_gathered_and_completed) {
  run_ranks(kRanks, [](Communicator& comm) { expect_gathered(comm, Device{}); });
  test::GuardedRun run(2);
  run_ranks(kRanks,
            [](Communicator& comm) { expect_gathered(comm, test::guarded_device(comm.rank())); });
  EXPECT_EQ(run.reports(), std::vector<std::string>{});
}

TEST(OptimizerMemory, moves_with_its_parameters_and_keeps_what_belongs_to_others) {
  run_ranks(kRanks, [](Communicator& comm) {
    const FlatSpace from{comm, comm, Device{}, 20, kBorders};
    const Borders other{0, 0, 5, 12};
    const FlatSpace to{comm, comm, Device{}, 12, other};
    const auto stays = std::make_shared<nn::Slot>(), goes = std::make_shared<nn::Slot>();
    OptimizerMemory memory;
    const Tensor kept = filled_by_rank(memory, from, stays, 2);
    const Tensor left = filled_by_rank(memory, from, goes, 12);
    const FlatRange own = to.part_of(comm.rank());
    const auto first = std::max<std::int64_t>(own.first, 3),
               last = std::min<std::int64_t>(own.last, 9);
    memory.move(from, to, [&](const nn::Slot& slot) -> std::optional<FlatPlace> {
      if (&slot != stays.get()) {
        return std::nullopt;
      }
      const nn::ElementRange mine{first - 3, std::max<std::int64_t>(last - first, 0)};
      return FlatPlace{.offset = 3, .count = 6, .own = first < last ? mine : nn::ElementRange{}};
    });
    EXPECT_EQ(left.to_vector<float>(), values_from(12));  // whole on every rank
    memory.complete(to);
    EXPECT_EQ(kept.to_vector<float>(), values_from(2));
  });
}

}  // namespace
}  // namespace tessera::dist
