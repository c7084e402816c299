// Training data as it lies in files: text as bytes, or tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::nn {

/// The text of a file, or of a folder: its regular files, in all depths, sorted by the bytes of
/// their paths relative to it, links not followed, joined by one newline. Throws IoError for what
/// is missing or unreadable, InvalidArgument for what is empty, each one sentence naming the path.
[[nodiscard]] std::string read_text(const std::string& path);

/// The tokens of a file of little-endian 16-bit numbers. Throws as read_text does, and
/// InvalidArgument for an odd number of bytes.
[[nodiscard]] std::vector<std::uint16_t> read_tokens(const std::string& path);

/// What tells one set of data from another.
struct DataIdentity {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const DataIdentity&, const DataIdentity&) = default;
};

[[nodiscard]] DataIdentity identify_data(const std::string& text);
[[nodiscard]] DataIdentity identify_data(const std::vector<std::uint16_t>& tokens);

}  // namespace tessera::nn
