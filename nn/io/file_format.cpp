#include <tessera/nn/io/file_format.h>

#include <array>
#include <cstring>
#include <optional>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/hdf5_signature.h>
#include <tessera/nn/io/safetensors_header.h>

namespace tessera::nn {
namespace {

constexpr std::uint64_t kSmallestUserBlock = 512;

/// The length of a header, and its first character.
bool begins_as_safetensors(File& file) {
  std::array<std::byte, 9> begin{};
  std::uint64_t length = 0;
  const bool whole = file.read_at(begin, 0) == begin.size();
  std::memcpy(&length, begin.data(), sizeof length);
  return whole && length <= kLongestSafetensorsHeader && begin.back() == std::byte{'{'};
}

/// Behind a block of the writer's own, whose size is a power of two, HDF5 begins later.
bool has_late_signature(File& file) {
  const std::uint64_t size = file.size();
  for (std::uint64_t at = kSmallestUserBlock; at < size; at *= 2) {
    if (has_hdf5_signature(file, at)) {
      return true;
    }
  }
  return false;
}

std::optional<Format> format_in(File& file) {
  if (has_hdf5_signature(file, 0)) {
    return Format::hdf5;
  }
  if (begins_as_safetensors(file)) {
    return Format::safetensors;
  }
  return has_late_signature(file) ? std::optional(Format::hdf5) : std::nullopt;
}

const char* name_of(Format format) {
  return format == Format::hdf5 ? "HDF5" : "safetensors";
}

}  // namespace

void check_format(const std::string& path, Format expected) {
  const auto file = file_system().open(path, {});
  const Format found = format_in(*file).value_or(expected);
  check<IoError>(found == expected, "load: '", path, "' is read as ", name_of(expected),
                 ", but its bytes look like ", name_of(found),
                 "; load_weights goes by the name's ending (.safetensors, or any other for HDF5), "
                 "import_weights by the format that it is given");
}

}  // namespace tessera::nn
