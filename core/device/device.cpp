#include <tessera/core/device/device.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>

namespace tessera {
namespace {

constexpr std::size_t kNamedTypes = 6;

/// Names of device types and their backends, by type. Written before main alone.
struct DeviceTypes {
  std::array<std::string_view, kDeviceTypeCount> names{"cpu", "cuda", "meta", "xpu", "ipu", "mtia"};
  std::array<const DeviceBackend*, kDeviceTypeCount> backends{};
};

DeviceTypes& device_types() {
  static DeviceTypes types;
  return types;
}

/// Null where there is none, of numbers that are no types among them.
const DeviceBackend* find_backend(DeviceType type) {
  const auto& backends = device_types().backends;
  const auto number = static_cast<std::size_t>(type);
  return number < backends.size() ? backends[number] : nullptr;
}

bool has_one(DeviceType type) {
  return type == DeviceType::cpu || type == DeviceType::meta;
}

/// "cpu, cuda or meta": the types that have a name, or those of them that this build has.
std::string names_of_types(bool available) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kDeviceTypeCount && !device_types().names[i].empty(); ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (!available || has_one(type) || find_backend(type) != nullptr) {
      names.push_back(device_types().names[i]);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  return text;
}

}  // namespace

Device Device::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto& names = device_types().names;
  const auto found = std::ranges::find(names, name);
  bool known = !name.empty() && found != names.end();
  Device device{.type = static_cast<DeviceType>(found - names.begin())};
  if (known && colon != std::string_view::npos) {
    const char* first = text.data() + colon + 1;
    const char* last = text.data() + text.size();
    const auto [end, code] = std::from_chars(first, last, device.index);
    known = code == std::errc() && end == last && device.index >= 0;
  }
  check(known, "device: cannot be read; got \"", text, "\", expected ", names_of_types(false),
        ", with or without an index as in cuda:1");
  return device;
}

void check_available(const Device& device) {
  if (has_one(device.type)) {
    check<NotImplementedError>(device.index == 0, "device: there is only one ", device.type,
                               "; got ", device, ", expected cpu or meta");
    return;
  }
  const DeviceBackend* backend = find_backend(device.type);
  check<NotImplementedError>(backend != nullptr, "device: not available in this build; got ",
                             device.type, ", expected ", names_of_types(true));
  check<NotImplementedError>(device.index >= 0 && device.index < backend->count(),
                             "device: there are ", backend->count(), " of type ", device.type,
                             "; got ", device, ", expected an index below that");
}

const DeviceBackend& backend_of(DeviceType type) noexcept {
  return *device_types().backends[static_cast<std::size_t>(type)];
}

bool detail::backend_is_host_addressable(DeviceType type) noexcept {
  const DeviceBackend* backend = find_backend(type);
  return backend != nullptr && backend->host_addressable;
}

RegisterDevice::RegisterDevice(const DeviceBackend& backend) {
  const std::string_view name = backend.name;
  check<InternalError>(!name.empty() && name.find(':') == std::string_view::npos,
                       "device: no name of a type; got \"", name, '"');
  auto& [names, backends] = device_types();
  auto place = std::ranges::find(names, name);
  place = place != names.end() ? place : std::find(names.begin() + kNamedTypes, names.end(), "");
  check<InternalError>(place != names.end(), "device: too many types; got ", backend.name,
                       ", expected at most ", kDeviceTypeCount);
  type_ = static_cast<DeviceType>(place - names.begin());
  const DeviceBackend*& registered = backends[static_cast<std::size_t>(type_)];
  check<InternalError>(registered == nullptr && !has_one(type_), "device: two types are named ",
                       backend.name);
  *place = backend.name;
  registered = &backend;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) {
  const auto& names = device_types().names;
  const auto number = static_cast<std::size_t>(type);
  return number < names.size() && !names[number].empty() ? out << names[number] : out << number;
}

std::ostream& operator<<(std::ostream& out, const Device& device) {
  out << device.type;
  return has_one(device.type) && device.index == 0 ? out : out << ':' << int{device.index};
}

}  // namespace tessera
