#include <tessera/dist/parallel/flat_memory.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/huge_pages.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/counted.h>

namespace tessera::dist {
namespace {

std::size_t bytes_of(std::int64_t elements) {
  return static_cast<std::size_t>(elements) * sizeof(float);
}

}  // namespace

FlatRange FlatRange::common_with(const FlatRange& other) const {
  const std::int64_t from = std::max(first, other.first);
  return {from, std::max(from, std::min(last, other.last))};
}

FlatMemory::FlatMemory(Communicator& comm, const Device& device, std::int64_t count,
                       MemoryCategory category, std::int64_t more) {
  if (!device.is_cpu()) {
    const CategoryScope scope(category);
    storage_ = zeros({count + more}, {.device = device}).get().storage;
    return;
  }
  CommBuffer buffer = comm.allocate(bytes_of(count + more));
  buffer.owner = counted(std::move(buffer.owner), bytes_of(count), category);
  buffer.owner = counted(std::move(buffer.owner), bytes_of(more), MemoryCategory::communication);
  storage_ =
      make_ref<Storage>(buffer.data, bytes_of(count + more), device, std::move(buffer.owner));
  peers_ = std::move(buffer.peers);
}

Tensor FlatMemory::at(std::int64_t offset, const Shape& shape) const {
  auto part = make_ref<Storage>(storage_, bytes_of(offset), bytes_of(numel_of(shape)));
  return Tensor(make_ref<TensorImpl>(std::move(part), shape, DType::f32, storage_->device()));
}

Operand FlatMemory::from(std::int64_t offset) const {
  return Operand(storage_, bytes_of(offset));
}

FlatRange FlatMemory::range_of(const Tensor& x, const char* what) const {
  const std::byte* data = x.get().storage->data() + bytes_of(x.get().offset);
  const std::byte* begin = storage_->data();
  const std::byte* end = begin + storage_->nbytes();
  const std::less_equal<const std::byte*> up_to;
  check(up_to(begin, data) && up_to(data + x.nbytes(), end), what,
        " lies outside the memory that ranks share: its tensor was replaced after data_parallel "
        "was applied");
  const auto first = static_cast<std::int64_t>((data - begin) / std::ptrdiff_t{sizeof(float)});
  return {first, first + x.numel()};
}

void FlatMemory::hold(const Tensor& x, std::int64_t offset) const {
  TensorImpl& impl = x.get();
  const Tensor place = at(offset, impl.shape);
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

std::vector<std::byte*> FlatMemory::peers_on_host(const Communicator& comm) const {
  std::vector<std::byte*> peers;
  const std::string here = comm.host(comm.rank());
  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank() || comm.host(r) != here) {
      continue;
    }
    const auto at = static_cast<std::size_t>(r);
    if (at >= peers_.size() || peers_[at] == nullptr) {
      return {};
    }
    peers.push_back(peers_[at]);
  }
  return peers;
}

void FlatMemory::take_pages(FlatRange range) const {
  if (storage_ && storage_->device().is_cpu()) {
    tessera::take_pages({storage_->data() + bytes_of(range.first), bytes_of(range.count())});
  }
}

}  // namespace tessera::dist
