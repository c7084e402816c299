#include <tessera/core/device/device.h>

#include <array>
#include <charconv>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

constexpr std::array<std::string_view, 6> kDeviceNames{"cpu", "cuda", "meta", "xpu", "ipu", "mtia"};

}  // namespace

Device Device::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Device device;
  bool known = false;
  for (std::size_t i = 0; i < kDeviceNames.size(); ++i) {
    if (kDeviceNames[i] == name) {
      device.type = static_cast<DeviceType>(i);
      known = true;
    }
  }
  if (known && colon != std::string_view::npos) {
    const char* first = text.data() + colon + 1;
    const char* last = text.data() + text.size();
    const auto [end, code] = std::from_chars(first, last, device.index);
    known = code == std::errc() && end == last && device.index >= 0;
  }
  check(known, "device: cannot be read; got \"", text,
        "\", expected cpu, cuda, meta, xpu, ipu or mtia, ",
        "with or without an index as in cuda:1");
  return device;
}

void check_available(const Device& device) {
  const bool known = device.type == DeviceType::cpu || device.type == DeviceType::meta;
  check<NotImplementedError>(known, "device type \"", device.type,
                             "\" is not available in this build");
  check<NotImplementedError>(device.index == 0, "device: there is only one ", device.type, "; got ",
                             device, ", expected cpu or meta");
}

std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << kDeviceNames[static_cast<std::size_t>(type)];
}

std::ostream& operator<<(std::ostream& out, const Device& device) {
  out << device.type;
  const bool one = device.type == DeviceType::cpu || device.type == DeviceType::meta;
  return one && device.index == 0 ? out : out << ':' << int{device.index};
}

}  // namespace tessera
