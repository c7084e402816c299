#include <tessera/core/device/storage.h>

#include <cstring>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>

namespace tessera {

Storage::Storage(std::size_t nbytes, Device device, MemoryCategory category) : device_(device) {
  check_available(device);
  block_ = device.type == DeviceType::cpu
               ? allocate(nbytes, category)
               : backend_of(device.type).allocate(device.index, nbytes, category);
}

Storage::Storage(std::byte* data, std::size_t nbytes, Device device,
                 std::shared_ptr<const void> owner)
    : block_{.data = data, .nbytes = nbytes},
      device_(device),
      owned_(false),
      owner_(std::move(owner)) {}

void Storage::leave_owner() {
  if (owned_) {
    return;
  }
  const MemoryBlock own = allocate(block_.nbytes);
  std::memcpy(own.data, block_.data, block_.nbytes);
  block_ = own;
  owned_ = true;
  owner_.reset();
}

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
  delete sync();  // no work is pending: it would hold a Ref
  if (owned_ && device_.type == DeviceType::cpu) {
    deallocate(block_);
  } else if (owned_) {
    backend_of(device_.type).deallocate(block_);
  }
}

}  // namespace tessera
