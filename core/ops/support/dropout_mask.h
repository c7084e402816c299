// Which elements dropout keeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <tessera/core/base/philox.h>

namespace tessera {

/// Element `offset` of sample `sample` is kept iff word `offset` of the random stream with key
/// mix(key, sample) is not below `threshold`; kept elements are multiplied with `scale`.
struct DropoutMask {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;
  double scale = 1;

  DropoutMask(double p, std::uint64_t draw)
      : key(draw),
        threshold(static_cast<std::uint32_t>(std::min(std::round(p * 0x1p32), 0x1p32 - 1))),
        scale(p < 1 ? 1 / (1 - p) : 0) {}

  [[nodiscard]] RandomStream stream(std::int64_t sample) const {
    return {.key = mix(key, static_cast<std::uint64_t>(sample))};
  }
  /// What the element is multiplied with.
  [[nodiscard]] double factor(std::int64_t sample, std::int64_t offset) const {
    const bool kept = stream(sample).word(static_cast<std::uint64_t>(offset)) >= threshold;
    return kept ? scale : 0;
  }
};

}  // namespace tessera
