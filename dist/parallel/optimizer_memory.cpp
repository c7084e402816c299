#include <tessera/dist/parallel/optimizer_memory.h>

#include <algorithm>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/nn/optim/flat_range.h>

namespace tessera::dist {
namespace {

constexpr const char* kLabel = "optimizer state";

Collective collective_on(CollectiveKind kind, const FlatMemory& memory, FlatRange range, int peer,
                         const char* label) {
  Collective c{.kind = kind};
  c.send = kind == CollectiveKind::receive ? Operand() : memory.from(range.first);
  c.receive = kind == CollectiveKind::send ? Operand() : memory.from(range.first);
  c.count = static_cast<std::size_t>(range.count());
  c.peer = peer;
  c.label = label;
  return c;
}

/// What this rank updates of a state: all or nothing of one that is not of its parameter's size.
Tensor own_part(const Tensor& state, const FlatLocation& location) {
  const bool elementwise = state.numel() == location.count;
  const std::int64_t all = location.own.count > 0 ? state.numel() : 0;
  return optim::flat_range(state, elementwise ? location.own : nn::ElementRange{0, all});
}

}  // namespace

Work broadcast_range(Communicator& comm, const FlatMemory& memory, FlatRange range, int root,
                     const char* label) {
  if (range.count() == 0) {
    return {};
  }
  return comm.launch(collective_on(CollectiveKind::broadcast, memory, range, root, label));
}

/// Pages that other ranks own stay untouched.
const FlatMemory& OptimizerMemory::memory(const FlatSpace& space, std::size_t number) {
  while (number >= memories_.size()) {
    memories_.emplace_back(space.comm, space.device, space.count, MemoryCategory::optimizer);
    memories_.back().take_pages(space.part_of(space.host.rank()));
  }
  return memories_[number];
}

/// The first memory in which no state of the slot is in use. Nobody tells when an optimizer goes,
/// and a rank may hold its state for longer than others do, so the ranks find out together; what
/// is in use nowhere is forgotten.
std::size_t OptimizerMemory::free_number(Communicator& comm, const std::weak_ptr<nn::Slot>& slot) {
  const auto of_slot = std::ranges::stable_partition(given_, [&](const Given& given) {
    return given.slot.owner_before(slot) || slot.owner_before(given.slot);
  });
  if (of_slot.empty()) {
    return 0;
  }
  std::vector<std::uint8_t> used(memories_.size() + 1);
  for (const Given& given : of_slot) {
    if (given.state.impl()->use_count() > 1 || given.state.get().storage->use_count() > 1) {
      used[given.memory] = 1;
    }
  }
  all_reduce<std::uint8_t>(comm, used, ReduceOp::max, kLabel).wait();
  const auto in_use = [&](const Given& given) { return used[given.memory] != 0; };
  given_.erase(std::stable_partition(of_slot.begin(), of_slot.end(), in_use), given_.end());
  return static_cast<std::size_t>(std::ranges::find(used, 0) - used.begin());
}

Tensor OptimizerMemory::make(const FlatSpace& space, const std::weak_ptr<nn::Slot>& slot,
                             const FlatLocation& location, const Shape& shape,
                             const Tensor& values) {
  const std::size_t number = free_number(space.comm, slot);
  const Tensor state = memory(space, number).at(location.offset, shape);
  const Tensor own = own_part(state, location);
  if (values.defined()) {
    own.copy_(own_part(values, location));
  } else {
    fill_(own, 0.0);
  }
  given_.push_back({slot, number, state});
  return state;
}

void OptimizerMemory::gather(const FlatSpace& space) const {
  for (const FlatMemory& flat : memories_) {
    for (int r = 1; r < space.host.size(); ++r) {
      const FlatRange part = space.part_of(r);
      if (space.host.rank() == r) {
        space.host.launch(collective_on(CollectiveKind::send, flat, part, 0, kLabel)).wait();
      } else if (space.host.rank() == 0) {
        space.host.launch(collective_on(CollectiveKind::receive, flat, part, r, kLabel)).wait();
      }
    }
  }
}

void OptimizerMemory::complete(const FlatSpace& space) const {
  for (const FlatMemory& flat : memories_) {
    for (int r = 0; r < space.host.size(); ++r) {
      if (const Work work = broadcast_range(space.host, flat, space.part_of(r), r, kLabel); work) {
        work.wait();
      }
    }
  }
}

void OptimizerMemory::move(const FlatSpace& from, const FlatSpace& to,
                           const FindLocation& location) {
  complete(from);
  memories_.clear();
  std::erase_if(given_, [](const Given& given) { return given.slot.expired(); });
  for (Given& given : given_) {
    const std::optional<FlatLocation> at = location(*given.slot.lock());
    if (!at) {
      continue;
    }
    const FlatMemory& flat = memory(to, given.memory);
    const Tensor moved = flat.at(at->offset, given.state.shape());
    static_cast<void>(
        call_into<Cast>(own_part(moved, *at), {own_part(given.state, *at)}, {DType::f32}));
    flat.hold(given.state, at->offset);
  }
}

}  // namespace tessera::dist
