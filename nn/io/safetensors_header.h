// The header of a safetensors file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/nn/io/array_file.h>

namespace tessera::nn {

struct SafetensorsHeader {
  std::vector<ArrayInfo> arrays;       ///< in the order of their bytes
  std::vector<std::uint64_t> offsets;  ///< of each array's bytes, after the header
  std::vector<ArrayAttribute> metadata;
};

/// The format's word for `dtype`, or nothing if it has none.
[[nodiscard]] std::optional<std::string_view> safetensors_dtype(DType dtype);

/// Reads and checks a header; `data_size` bytes of arrays follow it. Throws IoError that begins
/// with "load: 'path'" and names the array.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(std::string_view text,
                                                         std::uint64_t data_size,
                                                         const std::string& path);

}  // namespace tessera::nn
