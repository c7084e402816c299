#include <tessera/core/device/available_memory.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tessera {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The number behind `key` in a file of lines "key number".
std::optional<std::size_t> number_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  std::size_t number = 0;
  while (file >> word) {
    if (word == key && file >> number) {
      return number;
    }
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// The number that is all of a file; nothing where there is none, such as "max".
std::optional<std::size_t> number_of(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::size_t left_on_machine() {
  const auto available = number_in("/proc/meminfo", "MemAvailable:");
  const auto swap = number_in("/proc/meminfo", "SwapFree:");
  return available ? (*available + swap.value_or(0)) * 1024 : kUnlimited;
}

/// The files of a version of control groups.
struct CgroupFiles {
  const char* limit;
  const char* use;
  const char* inactive;  ///< in memory.stat: pages of files, which count as used and can go
  const char* active;
};
constexpr CgroupFiles kV1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};
constexpr CgroupFiles kV2{"/memory.max", "/memory.current", "inactive_file", "active_file"};

std::size_t left_in_cgroup(const std::string& folder, const CgroupFiles& files) {
  const auto limit = number_of(folder + files.limit);
  const auto used = number_of(folder + files.use);
  if (!limit || !used) {
    return kUnlimited;
  }
  const std::string parts = folder + "/memory.stat";
  const std::size_t of_files =
      number_in(parts, files.inactive).value_or(0) + number_in(parts, files.active).value_or(0);
  const std::size_t held = *used - std::min(*used, of_files);
  return *limit - std::min(*limit, held);
}

/// The bytes that the group and all that it is part of leave.
std::size_t left_in_cgroups(const std::string& root, std::string path, const CgroupFiles& files) {
  std::size_t left = left_in_cgroup(root, files);
  while (path.size() > 1) {
    left = std::min(left, left_in_cgroup(root + path, files));
    path.erase(path.rfind('/'));
  }
  return left;
}

/// Lines of /proc/self/cgroup are "number:controllers:path"; v2 has no controllers.
std::size_t left_in_cgroups() {
  std::size_t left = kUnlimited;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find(':') + 1;
    const std::size_t end = line.find(':', begin);
    if (end == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(begin, end - begin);
    const std::string path = line.substr(end + 1);
    if (controllers.empty()) {
      left = std::min(left, left_in_cgroups("/sys/fs/cgroup", path, kV2));
    } else if (controllers == "memory") {
      left = std::min(left, left_in_cgroups("/sys/fs/cgroup/memory", path, kV1));
    }
  }
  return left;
}

}  // namespace

std::size_t available_memory() {
  return std::min(left_on_machine(), left_in_cgroups());
}

bool is_available(std::size_t nbytes) {
  constexpr std::size_t kFew = std::size_t{16} << 20;
  return nbytes < kFew || nbytes <= available_memory();
}

}  // namespace tessera
