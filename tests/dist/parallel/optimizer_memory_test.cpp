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

/// Six elements from `offset` on, of which this rank owns what lies in its part.
FlatLocation location_at(const FlatSpace& space, std::int64_t offset) {
  const FlatRange own = FlatRange{offset, offset + 6}.common_with(space.part_of(space.host.rank()));
  return {.offset = offset,
          .count = 6,
          .own = {.first = own.count() > 0 ? own.first - offset : 0, .count = own.count()}};
}

/// A slot's state of six elements, of which each rank has written its own.
Tensor filled_by_rank(OptimizerMemory& memory, const FlatSpace& space,
                      const std::shared_ptr<nn::Slot>& slot, std::int64_t offset) {
  const Tensor state = memory.make(space, slot, location_at(space, offset), {2, 3}, {});
  const nn::ElementRange own = location_at(space, offset).own;
  const Tensor flat = reshape(state, {6});
  for (std::int64_t i = own.first; i < own.first + own.count; ++i) {
    const Tensor element = slice(flat, 0, i, i + 1);
    EXPECT_EQ(element.item<float>(), 0);
    fill_(element, value_at(offset + i));
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

/// As by optimizers made anew for a model.
TEST(OptimizerMemory, of_states_that_no_rank_uses_serves_the_next_ones) {
  run_ranks(kRanks, [](Communicator& comm) {
    const FlatSpace space{comm, comm, Device{}, 20, kBorders};
    const auto slot = std::make_shared<nn::Slot>(), other = std::make_shared<nn::Slot>();
    OptimizerMemory memory;
    std::optional<Tensor> gone = filled_by_rank(memory, space, slot, 2);
    const Tensor kept = filled_by_rank(memory, space, slot, 2);
    const Tensor beside = filled_by_rank(memory, space, other, 12);
    const void* const first = gone->raw_data();
    const std::optional<Tensor> longer = comm.rank() == 1 ? gone : std::nullopt;
    gone.reset();
    const Tensor third = memory.make(space, slot, location_at(space, 2), {2, 3}, {});
    EXPECT_NE(third.raw_data(), first);  // a rank still holds it
    if (longer) {
      EXPECT_EQ(longer->raw_data(), first);
    }
    EXPECT_EQ(third.to_vector<float>(), Floats(6, 0));
  });
  run_ranks(kRanks, [](Communicator& comm) {
    const FlatSpace space{comm, comm, Device{}, 20, kBorders};
    const auto slot = std::make_shared<nn::Slot>();
    OptimizerMemory memory;
    const void* first = nullptr;
    for (int phase = 0; phase < 3; ++phase) {
      const Tensor state = filled_by_rank(memory, space, slot, 2);
      first = first == nullptr ? state.raw_data() : first;
      EXPECT_EQ(state.raw_data(), first) << phase;
      memory.complete(space);
      EXPECT_EQ(state.to_vector<float>(), values_from(2));
    }
  });
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
    memory.move(from, to, [&](const nn::Slot& slot) -> std::optional<FlatLocation> {
      if (&slot != stays.get()) {
        return std::nullopt;
      }
      const nn::ElementRange mine{first - 3, std::max<std::int64_t>(last - first, 0)};
      return FlatLocation{.offset = 3, .count = 6, .own = first < last ? mine : nn::ElementRange{}};
    });
    EXPECT_EQ(left.to_vector<float>(), values_from(12));  // whole on every rank
    memory.complete(to);
    EXPECT_EQ(kept.to_vector<float>(), values_from(2));
  });
}

}  // namespace
}  // namespace tessera::dist
