// The memory behind tensors. Views share one storage.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tessera/core/base/pooled.h>
#include <tessera/core/base/ref.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/device.h>

namespace tessera {

struct StorageSync;  // events of the last write and reads, see core/device/hazards.h

/// A block of device memory, its version counter, and the events that order access to it.
class Storage : public RefCounted, public Pooled<Storage> {
 public:
  /// Fresh, uninitialised memory from the device's allocator, counted under `category`.
  Storage(std::size_t nbytes, Device device, MemoryCategory category = current_category());
  /// Memory that belongs to `owner`, which is kept alive.
  Storage(std::byte* data, std::size_t nbytes, Device device, std::shared_ptr<const void> owner);
  ~Storage();

  [[nodiscard]] std::byte* data() const noexcept { return block_.data; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return block_.nbytes; }
  [[nodiscard]] Device device() const noexcept { return device_; }

  /// Moves the contents from an owner's memory to memory of its own, for every holder, so that the
  /// owner may write to its memory. Nothing may be reading or writing meanwhile.
  void leave_owner();

  /// Counts writes that autograd must notice.
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  void bump_version() noexcept { ++version_; }

  /// Null until a stream other than the inline one touches the storage.
  [[nodiscard]] StorageSync* sync() const noexcept { return sync_.load(std::memory_order_acquire); }
  StorageSync& ensure_sync();

 private:
  MemoryBlock block_;
  Device device_;
  bool owned_ = true;  ///< else the memory is `owner_`'s
  std::uint32_t version_ = 0;
  std::shared_ptr<const void> owner_;
  std::atomic<StorageSync*> sync_ = nullptr;  ///< owned
};

}  // namespace tessera
