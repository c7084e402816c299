#include <tessera/dist/parallel/optimizer_memory.h>

#include <algorithm>
#include <utility>

#include <tessera/core/device/huge_pages.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/parallel/parameter_memory.h>

namespace tessera::dist {
namespace {

/// What this rank updates of a state: all or nothing of one that is not of its parameter's size.
std::span<float> own_part(const Tensor& state, const nn::ElementRange& own, bool elementwise) {
  const std::span all(state.data<float>(), static_cast<std::size_t>(state.numel()));
  if (!elementwise) {
    return own.count > 0 ? all : all.first(0);
  }
  return all.subspan(static_cast<std::size_t>(own.first), static_cast<std::size_t>(own.count));
}

}  // namespace

std::span<float> FlatSpace::part_of_rank(const CommBuffer& flat, int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return {reinterpret_cast<float*>(flat.data) + borders[at],
          static_cast<std::size_t>(borders[at + 1] - borders[at])};
}

/// Pages that other ranks own stay untouched.
const CommBuffer& OptimizerMemory::buffer(const FlatSpace& space, std::size_t number) {
  while (number >= buffers_.size()) {
    buffers_.push_back(allocate_counted(space.comm, space.nbytes, MemoryCategory::optimizer));
    take_pages(std::as_writable_bytes(space.part_of_rank(buffers_.back(), space.host.rank())));
  }
  return buffers_[number];
}

Tensor OptimizerMemory::make(const FlatSpace& space, const std::weak_ptr<nn::Slot>& slot,
                             std::int64_t offset, const Shape& shape) {
  const auto number = std::ranges::count_if(given_, [&](const Given& given) {
    return !given.slot.owner_before(slot) && !slot.owner_before(given.slot);
  });
  const auto at = static_cast<std::size_t>(number);
  given_.push_back({slot, at, tensor_at(buffer(space, at), offset, shape)});
  return given_.back().state;
}

void OptimizerMemory::gather(const FlatSpace& space) const {
  for (const CommBuffer& flat : buffers_) {
    for (int r = 1; r < space.host.size(); ++r) {
      const std::span<float> part = space.part_of_rank(flat, r);
      if (space.host.rank() == r) {
        send<float>(space.host, part, 0, "optimizer state").wait();
      } else if (space.host.rank() == 0) {
        receive<float>(space.host, part, r, "optimizer state").wait();
      }
    }
  }
}

void OptimizerMemory::complete(const FlatSpace& space) const {
  for (const CommBuffer& flat : buffers_) {
    for (int r = 0; r < space.host.size(); ++r) {
      if (const std::span<float> part = space.part_of_rank(flat, r); !part.empty()) {
        broadcast<float>(space.host, part, r, "optimizer state").wait();
      }
    }
  }
}

void OptimizerMemory::move(const FlatSpace& from, const FlatSpace& to, const FindPlace& place) {
  complete(from);
  buffers_.clear();
  std::erase_if(given_, [](const Given& given) { return given.slot.expired(); });
  for (Given& given : given_) {
    const std::optional<FlatPlace> at = place(*given.slot.lock());
    if (!at) {
      continue;
    }
    const CommBuffer& flat = buffer(to, given.buffer);
    const Tensor moved = tensor_at(flat, at->offset, given.state.shape());
    const bool elementwise = given.state.numel() == at->count;
    const std::span<float> source = own_part(given.state, at->own, elementwise);
    std::ranges::copy(source, own_part(moved, at->own, elementwise).begin());
    rest_on(given.state, flat, at->offset);
  }
}

}  // namespace tessera::dist
