// Sizes that tests of data parallel training share.
#pragma once

#include <cstdint>

namespace tessera::dist {

inline constexpr std::int64_t kGrain = 8;  // microbatches in a global batch
inline constexpr std::int64_t kSmallGrain = 4;

inline constexpr std::int64_t kSamples = 32;  // in a data set
inline constexpr std::int64_t kWidth = 4;     // numbers in a sample

}  // namespace tessera::dist
