// Where a tensor's elements live.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace tessera {

/// `meta` tensors have a shape and a dtype and no elements: ops on them compute shapes only.
enum class DeviceType : std::uint8_t { cpu, cuda, meta };

inline constexpr int kDeviceTypeCount = 3;

struct Device {
  DeviceType type = DeviceType::cpu;
  std::int8_t index = 0;

  /// Reads "cpu", "cuda:1", "meta". Throws InvalidArgument for anything else.
  static Device parse(std::string_view text);
  friend auto operator<=>(const Device&, const Device&) = default;
};

std::ostream& operator<<(std::ostream&, DeviceType);
std::ostream& operator<<(std::ostream&, const Device&);

}  // namespace tessera
