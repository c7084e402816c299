// What the fuzzers feed with bytes, and the tests with the corpus.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tessera::fuzz {

/// Reads `bytes` as a file or message of some kind, all of it. Whatever they are, it returns: bad
/// ones are refused with an IoError that names the file. Throws std::logic_error when they are not.
struct Reader {
  std::string name;
  void (*read)(std::span<const std::byte> bytes);
};

/// safetensors: a file. hdf5: a file of any program. own_hdf5: damage to a file of ours, in records
/// of four bytes, of which three say where and one what is put there.
[[nodiscard]] const std::vector<Reader>& readers();
/// Throws std::out_of_range for an unknown name.
[[nodiscard]] const Reader& reader(const std::string& name);

}  // namespace tessera::fuzz
