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
#include <tessera/core/device/stream.h>

namespace tessera {

struct StorageSync;  // tickets of the last write and reads, see core/device/hazards.h

/// A block of device memory, its version counter, and the tickets that order access to it.
class Storage : public RefCounted, public Pooled<Storage> {
 public:
  /// Fresh, uninitialised memory from the device's allocator, counted under `category`, at home on
  /// the calling thread's current stream there.
  Storage(std::size_t nbytes, Device device, MemoryCategory category = current_category());
  /// Memory that belongs to `owner`, which is kept alive.
  Storage(std::byte* data, std::size_t nbytes, Device device, std::shared_ptr<const void> owner);
  /// `nbytes` of `whole` from `offset` on, with a version counter of their own: tensors of a bucket
  /// share the tickets of work on it, and nothing else. Keeps `whole` alive.
  Storage(const Ref<Storage>& whole, std::size_t offset, std::size_t nbytes);
  ~Storage();

  [[nodiscard]] std::byte* data() const noexcept { return block_.data; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return block_.nbytes; }
  [[nodiscard]] Device device() const noexcept { return home_.device; }

  /// Whether the memory is this storage's alone, and neither its owner's nor a part of another one.
  [[nodiscard]] bool owned() const noexcept { return owned_; }

  /// The storage whose tickets order work on this one: what it is a part of, or itself.
  [[nodiscard]] Storage& whole() noexcept { return whole_ ? *whole_ : *this; }

  /// Counts writes that autograd must notice.
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  void bump_version() noexcept { ++version_; }

  /// Whether work must ask its tickets before it touches the memory.
  [[nodiscard]] bool has_hazards() const noexcept {
    return hazards_.load(std::memory_order_acquire) || (whole_ && whole_->has_hazards());
  }
  void set_hazards(bool any) noexcept { hazards_.store(any, std::memory_order_release); }
  /// Null until a stream other than the host's touches the storage.
  [[nodiscard]] StorageSync* sync() const noexcept { return sync_.load(std::memory_order_acquire); }
  StorageSync& ensure_sync();

 private:
  MemoryBlock block_;
  StreamId home_;
  bool owned_ = true;  ///< else the memory is `owner_`'s, or `whole_`'s
  std::atomic<bool> hazards_ = false;
  std::uint32_t version_ = 0;
  Ref<Storage> whole_;  ///< what this is a part of, which is no part itself
  std::shared_ptr<const void> owner_;
  std::atomic<StorageSync*> sync_ = nullptr;  ///< owned
};

}  // namespace tessera
