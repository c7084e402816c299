// What a type of device can do. Everything above asks here: no device is special but the CPU, whose
// memory is the host's, and meta, which has none.
//
// A backend is a table, one constant a device type, registered before main:
//
//   constexpr DeviceBackend kBackend{.name = "cuda", .count = count, .allocate = allocate, ...};
//   const RegisterDevice register_cuda{kBackend};
#pragma once

#include <cstddef>

#include <tessera/core/device/allocator.h>
#include <tessera/core/device/device.h>

namespace tessera {

struct DeviceBackend {
  const char* name;  ///< as in "cuda:1"
  /// How many devices of the type this machine has; none is a state and no error.
  int (*count)();
  /// Uninitialised memory, counted under `category`; of 0 bytes too. Throws DeviceError when there
  /// is not so much left. The host may not look into it.
  MemoryBlock (*allocate)(int index, std::size_t nbytes, MemoryCategory category);
  void (*deallocate)(const MemoryBlock& block) noexcept;
  /// Copies between the host's memory and that of device `index`; done when they return.
  void (*write)(int index, std::byte* to, const std::byte* from, std::size_t nbytes);
  void (*read)(int index, std::byte* to, const std::byte* from, std::size_t nbytes);
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

/// True when the host reaches the elements of tensors on `device` by their addresses.
[[nodiscard]] inline bool is_host_addressable(const Device& device) noexcept {
  return device.type == DeviceType::cpu;
}

}  // namespace tessera
