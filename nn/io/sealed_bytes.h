// Bytes that end in their checksum.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tessera::nn {

/// `bytes` and their checksum.
[[nodiscard]] std::vector<std::byte> seal(std::vector<std::byte> bytes);

/// What was sealed. Throws IoError that begins with `what` for bytes that were damaged or cut off
/// since.
[[nodiscard]] std::span<const std::byte> unseal(std::span<const std::byte> sealed,
                                                const std::string& what);

}  // namespace tessera::nn
