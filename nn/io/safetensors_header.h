// The header of a safetensors file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/json_cursor.h>

namespace tessera::nn {

/// Bytes of the longest header: the format's own limit.
inline constexpr std::uint64_t kLongestSafetensorsHeader = 100'000'000;

struct SafetensorsHeader {
  std::vector<ArrayInfo> arrays;       ///< in the order of their bytes
  std::vector<std::uint64_t> offsets;  ///< of each array's bytes, after the header
  std::vector<ArrayAttribute> metadata;
};

/// The format's word for `dtype`, or nothing if it has none.
[[nodiscard]] std::optional<std::string_view> safetensors_dtype(DType dtype);

/// Reads and checks a header, which comes in pieces: nothing is kept of what is not yet checked but
/// the piece. `data_size` bytes of arrays follow it. Of a text under "__metadata__" at most 64 KiB
/// are kept. Throws IoError that begins with "load: 'path'" and names the array.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(JsonCursor::Source text,
                                                         std::uint64_t data_size,
                                                         const std::string& path);

/// Checks a header as the above does and keeps nothing, however long it is; whether a name is there
/// twice it does not see.
void scan_safetensors_header(JsonCursor::Source text, std::uint64_t data_size,
                             const std::string& path);

}  // namespace tessera::nn
