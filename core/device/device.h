// Where a tensor's elements live.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace tessera {

/// `meta` tensors have a shape and a dtype and no elements: ops on them compute shapes only. All
/// others but the CPU are there where a backend is registered (core/device/backend.h), which may
/// bring a type of its own, behind these.
enum class DeviceType : std::uint8_t { cpu, cuda, meta, xpu, ipu, mtia };

inline constexpr int kDeviceTypeCount = 10;  ///< the most that a program can have

struct Device {
  DeviceType type = DeviceType::cpu;
  std::int8_t index = 0;

  /// True for the CPU, whose memory is the process's own and whose stream is the calling thread.
  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type == DeviceType::cpu; }
  /// Reads "cpu", "cuda:1", "meta", "xpu" and the names of registered backends. Throws
  /// InvalidArgument for anything else.
  static Device parse(std::string_view text);
  friend auto operator<=>(const Device&, const Device&) = default;
};

/// Throws NotImplementedError when this build has no devices of the type, or not so many.
void check_available(const Device& device);

std::ostream& operator<<(std::ostream&, DeviceType);
std::ostream& operator<<(std::ostream&, const Device&);

}  // namespace tessera
