#include "readers.h"
#include "support/simulated_file_system.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/safetensors.h>

namespace tessera::fuzz {
namespace {

constexpr const char* kFile = "input";

void read_all(nn::ArrayFileReader& reader) {
  (void)reader.attributes();
  std::vector<std::byte> bytes;
  for (const nn::ArrayInfo& array : reader.arrays()) {
    if (array.refusal.empty()) {
      bytes.resize(array.nbytes());
      reader.read(array.path, bytes);
    }
  }
}

/// Runs `read` on a file of `bytes`; true if it was refused.
bool refuses(std::span<const std::byte> bytes, void (*read)()) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  write_file(kFile, bytes);
  try {
    read();
    return false;
  } catch (const IoError& error) {
    const std::string text = error.what();
    if (text.find("'input'") == std::string::npos) {
      throw std::logic_error("does not name the file: " + text);
    }
    return true;
  }
}

void open_safetensors() {
  read_all(*nn::open_safetensors(kFile));
}

void open_hdf5() {
  read_all(*nn::open_array_file(kFile));
}

void read_safetensors(std::span<const std::byte> bytes) {
  (void)refuses(bytes, open_safetensors);
}

void read_hdf5(std::span<const std::byte> bytes) {
  (void)refuses(bytes, open_hdf5);
}

std::vector<std::byte> make_own_file() {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  nn::ArrayFileContents contents;
  contents.arrays = {{"a/weight", DType::f32, {2, 3}, values.data(), ""},
                     {"a/half", DType::bf16, {4}, values.data(), ""},
                     nn::alias_of("a/weight", "b/weight")};
  contents.attributes = {{"a", "class", std::string("Linear")}};
  nn::write_array_file(kFile, contents);
  const std::string text = read_file(kFile);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Every change must be found before the HDF5 library sees a byte.
void read_own_hdf5(std::span<const std::byte> damage) {
  static const std::vector<std::byte> whole = make_own_file();
  std::vector<std::byte> bytes = whole;
  for (; damage.size() >= 4; damage = damage.subspan(4)) {
    const auto at = std::to_integer<std::size_t>(damage[0]) |
                    std::to_integer<std::size_t>(damage[1]) << 8 |
                    std::to_integer<std::size_t>(damage[2]) << 16;
    bytes[at % bytes.size()] = damage[3];
  }
  if (refuses(bytes, open_hdf5) == (bytes == whole)) {
    throw std::logic_error("a damaged file was read, or a whole one refused");
  }
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all{
      {"safetensors", read_safetensors}, {"hdf5", read_hdf5}, {"own_hdf5", read_own_hdf5}};
  return all;
}

const Reader& reader(const std::string& name) {
  const auto found = std::ranges::find(readers(), name, &Reader::name);
  if (found == readers().end()) {
    throw std::out_of_range("no reader " + name);
  }
  return *found;
}

}  // namespace tessera::fuzz
