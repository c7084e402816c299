// Where a tensor's elements live.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace tessera {

/// `meta` tensors have a shape and a dtype and no elements: ops on them compute shapes only. The
/// last three are known by name, and no build has them.
enum class DeviceType : std::uint8_t { cpu, cuda, meta, xpu, ipu, mtia };

inline constexpr int kDeviceTypeCount = 3;  ///< of those that a build can have

struct Device {
  DeviceType type = DeviceType::cpu;
  std::int8_t index = 0;

  /// Reads "cpu", "cuda:1", "meta", "xpu". Throws InvalidArgument for anything else.
  static Device parse(std::string_view text);
  friend auto operator<=>(const Device&, const Device&) = default;
};

/// Throws NotImplementedError when this build has no devices of the type.
void check_available(const Device& device);

std::ostream& operator<<(std::ostream&, DeviceType);
std::ostream& operator<<(std::ostream&, const Device&);

}  // namespace tessera
