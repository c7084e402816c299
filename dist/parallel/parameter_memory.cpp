#include <tessera/dist/parallel/parameter_memory.h>

#include <algorithm>
#include <utility>

#include <tessera/core/device/huge_pages.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/nn/synchronizer.h>

namespace tessera::dist {
namespace {

/// The place nearby where a border within `entry` may lie.
std::int64_t move_border(std::int64_t border, const BucketEntry& entry) {
  const std::int64_t before = border - entry.offset;
  if (entry.whole) {
    return entry.offset + (2 * before < entry.count ? 0 : entry.count);
  }
  return border - before % nn::kNormBlock;
}

}  // namespace

CommBuffer allocate_counted(Communicator& comm, std::size_t nbytes, MemoryCategory category,
                            std::size_t rooms) {
  CommBuffer buffer = comm.allocate(nbytes + rooms);
  buffer.owner = counted(std::move(buffer.owner), nbytes, category);
  buffer.owner = counted(std::move(buffer.owner), rooms, MemoryCategory::communication);
  return buffer;
}

CommBuffer allocate_whole(Communicator& comm, std::size_t nbytes, MemoryCategory category,
                          std::size_t rooms) {
  CommBuffer buffer = allocate_counted(comm, nbytes, category, rooms);
  take_pages({buffer.data, buffer.nbytes});
  return buffer;
}

Tensor tensor_at(const CommBuffer& buffer, std::int64_t offset, const Shape& shape) {
  auto* data = reinterpret_cast<float*>(buffer.data) + offset;
  return from_memory(data, shape, DType::f32, buffer.owner);
}

void rest_on(const Tensor& x, const CommBuffer& buffer, std::int64_t offset) {
  TensorImpl& impl = x.get();
  const Tensor place = tensor_at(buffer, offset, impl.shape);
  while (place.version() < impl.storage->version()) {
    place.get().storage->bump_version();  // a tape that saved `x` must not see a write
  }
  impl.storage = place.get().storage;
  impl.strides = place.get().strides;
  impl.offset = place.get().offset;
  impl.base = nullptr;  // it is no view any more
  impl.untracked_view = impl.untracked_gradient = false;
  impl.settle_stages();
}

void move_parameters(const std::vector<Bucket>& buckets, const CommBuffer& buffer) {
  for (const Bucket& bucket : buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      const Tensor place = tensor_at(buffer, entry.offset, entry.slot->shape);
      static_cast<void>(call_into<Cast>(place, {entry.slot->value.detach()}, {DType::f32}));
      rest_on(entry.slot->value, buffer, entry.offset);
    }
  }
}

std::vector<std::int64_t> deal_out(const std::vector<Bucket>& buckets, int ranks) {
  const std::int64_t total = buckets.empty() ? 0 : buckets.back().offset + buckets.back().count;
  std::vector<std::int64_t> borders;
  for (int r = 0; r <= ranks; ++r) {
    borders.push_back(total / ranks * r + total % ranks * r / ranks);
  }
  for (const Bucket& bucket : buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      for (std::int64_t& border : borders) {
        if (border > entry.offset && border < entry.offset + entry.count) {
          border = move_border(border, entry);
        }
      }
    }
  }
  return borders;
}

}  // namespace tessera::dist
