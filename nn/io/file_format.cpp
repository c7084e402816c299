#include <tessera/nn/io/file_format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/hdf5_signature.h>
#include <tessera/nn/io/safetensors_header.h>

namespace tessera::nn {
namespace {

constexpr std::uint64_t kSmallestUserBlock = 512;
/// What holds the table of a zip archive's names, at its end, or the first of its names.
constexpr std::uint64_t kZipTable = 64 << 10;

std::string text_at(File& file, std::uint64_t at, std::size_t size) {
  std::string text(size, '\0');
  text.resize(file.read_at(std::as_writable_bytes(std::span(text)), at));
  return text;
}

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

/// Whether a zip archive holds the pickle that torch.save puts into its own.
bool holds_pickle(File& file) {
  const std::uint64_t size = file.size();
  const std::uint64_t last = size - std::min(size, kZipTable);
  return (text_at(file, 0, kZipTable) + text_at(file, last, kZipTable)).find("/data.pkl") !=
         std::string::npos;
}

/// What Python may have written under a name for weights, or nothing.
std::string_view other_kind(File& file) {
  constexpr std::string_view kZip{"PK\x03\x04"};
  constexpr std::string_view kTorchPickle{
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"};
  const std::string begin = text_at(file, 0, kTorchPickle.size());
  if (begin == kTorchPickle || (begin.starts_with(kZip) && holds_pickle(file))) {
    return "a file of torch.save";
  }
  const bool pickle = begin.size() > 1 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
  return begin.starts_with(kZip) ? "a zip archive" : pickle ? "a pickle" : "";
}

void refuse_other_kinds(const std::string& path, File& file, const std::string& expected) {
  check<IoError>(file.size() > 0, "load: '", path, "' is empty; expected ", expected);
  const std::string_view kind = other_kind(file);
  check<IoError>(kind.empty(), "load: '", path, "' is ", kind, "; expected ", expected,
                 "; load it in Python and save its tensors with safetensors.torch.save_file");
}

const char* name_of(Format format) {
  return format == Format::hdf5 ? "HDF5" : "safetensors";
}

}  // namespace

void check_format(const std::string& path, Format expected) {
  const auto file = file_system().open(path, {});
  const std::optional<Format> found = format_in(*file);
  if (!found) {
    refuse_other_kinds(path, *file, name_of(expected));
    return;
  }
  check<IoError>(*found == expected, "load: '", path, "' is read as ", name_of(expected),
                 ", but its bytes look like ", name_of(*found),
                 "; load_weights goes by the name's ending (.safetensors, or any other for HDF5), "
                 "import_weights by the format that it is given");
}

}  // namespace tessera::nn
