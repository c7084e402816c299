// What a type of device can do. Everything above asks here: no device is special but the CPU, whose
// memory is the host's, and meta, which has none.
//
// A backend is a table, one constant a device type, registered before main:
//
//   constexpr DeviceBackend kBackend{.name = "cuda", .count = count, .allocate = allocate, ...};
//   const RegisterDevice register_cuda{kBackend};
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <tessera/core/device/allocator.h>
#include <tessera/core/device/device.h>
#include <tessera/core/device/stream.h>

namespace tessera {

class KernelJob;  // core/dispatch/kernel_job.h

/// Memory of a device, and the point in its home stream's queue from which on it is free of
/// whatever held it before.
struct DeviceMemory {
  MemoryBlock memory;
  Ticket free_from;
};

/// Bytes of device `index`.
struct DeviceRegion {
  int index = 0;
  std::byte* data = nullptr;
  std::size_t nbytes = 0;
};

struct DeviceBackend {
  const char* name;  ///< as in "cuda:1"
  /// Whose kernels run on it, where these are not its own.
  std::optional<DeviceType> kernels_of;
  /// Whether the host reaches the memory by its addresses, once the work on it is done.
  bool host_addressable = false;
  /// How many devices of the type this machine has; none is a state and no error.
  int (*count)();
  /// Uninitialised memory for work on `home`, counted under `category`; of 0 bytes too. Throws
  /// DeviceError when there is not so much left.
  DeviceMemory (*allocate)(const StreamId& home, std::size_t nbytes, MemoryCategory category);
  /// Takes it back once home's work so far and `others` are done. Waits for nothing itself.
  void (*deallocate)(const MemoryBlock& block, const StreamId& home,
                     std::span<const Ticket> others) noexcept;
  /// Copies between the host's memory and that of device `index`; done when they return. The caller
  /// has waited for the work that uses the device's. Null where the host reaches the memory.
  void (*write)(int index, std::byte* to, const std::byte* from, std::size_t nbytes) = nullptr;
  void (*read)(int index, std::byte* to, const std::byte* from, std::size_t nbytes) = nullptr;

  // What follows is null where a device has no streams: work on it is done when it was asked for.

  /// Another stream of device `index`; closed once, when its work is done.
  StreamId (*open)(int index, const char* name) = nullptr;
  void (*close)(const StreamId& stream) noexcept = nullptr;
  /// Puts a kernel with its operands into the queue. Null: kernels are called on the host, get the
  /// stream, and enqueue what they do themselves.
  Ticket (*launch)(const StreamId& stream, std::unique_ptr<KernelJob> job) = nullptr;
  /// Puts a copy of as many bytes, between devices of the type, or the setting of all bytes to
  /// `value` into the queue. Null: the bytes come from the host.
  Ticket (*copy)(const StreamId& stream, const DeviceRegion& to,
                 const DeviceRegion& from) = nullptr;
  Ticket (*fill)(const StreamId& stream, const DeviceRegion& to, std::byte value) = nullptr;
  /// The point behind all work that a stream was given so far.
  Ticket (*mark)(const StreamId& stream) = nullptr;
  /// Work that `stream` is given from now on begins after `ticket`, of a stream of this backend.
  void (*wait)(const StreamId& stream, const Ticket& ticket) = nullptr;
  /// Whether all work before `ticket` is done. Rethrows the first error of that work.
  bool (*reached)(const Ticket& ticket) = nullptr;
  /// Blocks the host until `ticket` is reached. Rethrows the first error of the stream's work; work
  /// behind that is dropped.
  void (*synchronize)(const Ticket& ticket) = nullptr;
};

/// The backend of a type that `check_available` lets through, other than cpu and meta.
[[nodiscard]] const DeviceBackend& backend_of(DeviceType type) noexcept;

/// Makes a backend known for as long as the program runs. One whose name DeviceType knows is of
/// that type; others get the next one that is free. Throws InternalError for a name that is taken
/// and for more types than kDeviceTypeCount.
class RegisterDevice {
 public:
  explicit RegisterDevice(const DeviceBackend& backend);
  [[nodiscard]] DeviceType type() const noexcept { return type_; }

 private:
  DeviceType type_;
};

namespace detail {
/// Whether a backend says so; false for types without one.
[[nodiscard]] bool backend_is_host_addressable(DeviceType type) noexcept;
}  // namespace detail

/// True when the host reaches the elements of tensors on `device` by their addresses.
[[nodiscard]] inline bool is_host_addressable(const Device& device) noexcept {
  return device.is_cpu() || detail::backend_is_host_addressable(device.type);
}

}  // namespace tessera
