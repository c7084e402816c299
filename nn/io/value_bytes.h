// Values as bytes: what extra state and serialised modules are written as.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tessera/nn/value.h>

namespace tessera::nn {

/// `value` with everything in it, tensors included; the bytes are the same on every machine. Throws
/// Unsupported for a value of the caller's own type and for nesting of more than 200,
/// NotImplementedError for a tensor without elements; both name its place in `value`.
[[nodiscard]] std::vector<std::byte> to_bytes(const Value& value);

/// The inverse. Throws IoError that begins with `what` for anything that `to_bytes` does not give;
/// memory is made only for what is there.
[[nodiscard]] Value value_from_bytes(std::span<const std::byte> bytes, const std::string& what);

}  // namespace tessera::nn
