#include <tessera/core/tensor/storage.h>

#include <cstdlib>

#include <tessera/core/base/error.h>
#include <tessera/core/device/hazards.h>

namespace tessera {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* allocate(std::size_t nbytes) {
  const std::size_t rounded = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  return static_cast<std::byte*>(
      std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded));
}

}  // namespace

Storage::Storage(std::size_t nbytes, Device device)
    : data_(allocate(nbytes)), nbytes_(nbytes), device_(device), owned_(true) {
  check<Unsupported>(device.type == DeviceType::cpu, "storage: no allocator for device ", device);
}

Storage::Storage(std::byte* data, std::size_t nbytes, Device device,
                 std::shared_ptr<const void> owner)
    : data_(data), nbytes_(nbytes), device_(device), owned_(false), owner_(std::move(owner)) {}

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
  if (owned_) {
    std::free(data_);
  }
}

}  // namespace tessera
