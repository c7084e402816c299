#include <tessera/core/device/storage.h>

#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>

namespace tessera {
namespace {

/// Gives a block back to the backend of `home`, behind what other streams do with it. Out of line,
/// so that the end of the CPU's storages saves no registers for it: every op has one.
[[gnu::noinline]] void give_back(const MemoryBlock& block, const StreamId& home,
                                 const StorageSync* sync) {
  const std::vector<Ticket> others =
      sync != nullptr ? tickets_of_others(*sync, home) : std::vector<Ticket>();
  backend_of(home.device.type).deallocate(block, home, others);
}

}  // namespace

Storage::Storage(std::size_t nbytes, Device device, MemoryCategory category)
    : block_(device == Device{} ? allocate(nbytes, category) : MemoryBlock()),  // in place: no copy
      home_(current_stream(device)) {
  if (device == Device{}) [[likely]] {
    return;
  }
  check_available(device);
  const DeviceMemory block = backend_of(device.type).allocate(home_, nbytes, category);
  block_ = block.memory;
  after_write(*this, block.free_from);
}

Storage::Storage(std::byte* data, std::size_t nbytes, Device device,
                 std::shared_ptr<const void> owner)
    : block_{.data = data, .nbytes = nbytes},
      home_{.device = device},
      owned_(false),
      owner_(std::move(owner)) {}

Storage::Storage(const Ref<Storage>& whole, std::size_t offset, std::size_t nbytes)
    : block_{.data = whole->data() + offset, .nbytes = nbytes},
      home_(whole->home_),
      owned_(false),
      whole_(whole->whole_ ? whole->whole_ : whole) {}

StorageSync& Storage::ensure_sync() {
  StorageSync* known = sync();
  if (known == nullptr) {
    auto fresh = std::make_unique<StorageSync>();
    if (sync_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) {
      known = fresh.release();
    }
  }
  return *known;
}

Storage::~Storage() {
  const std::unique_ptr<StorageSync> sync(this->sync());
  if (!owned_) {
    return;
  }
  if (home_.device.is_cpu()) [[likely]] {
    deallocate(block_);  // work on the host's memory holds a Ref
  } else {
    give_back(block_, home_, sync.get());
  }
}

}  // namespace tessera
