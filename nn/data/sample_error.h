// Errors while a sample is read.
#pragma once

#include <cstdint>

namespace tessera::data {

/// Rethrows the exception in flight with the number of the sample in its text: an IoError stays
/// one, and so does an InvalidArgument; other std::exceptions become a RuntimeError. The first
/// exception is nested in the new one.
[[noreturn]] void rethrow_with_sample(std::int64_t index);

}  // namespace tessera::data
