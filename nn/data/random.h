// Random numbers of one sample.
#pragma once

#include <cstdint>

#include <tessera/core/base/philox.h>

namespace tessera::data {

/// Draws one after another from a stream of its own. A loader keys it by (seed, epoch, global
/// sample index), so what a sample becomes depends neither on ranks nor on threads.
class Random {
 public:
  explicit Random(std::uint64_t key) : stream_{.key = key} {}

  [[nodiscard]] std::uint32_t word() { return stream_.word(drawn_++); }
  /// A number in [0, 1).
  [[nodiscard]] float uniform() { return to_uniform(word()); }
  /// A whole number in [0, n), for n from 1 to 2^32. No number is likelier than another by more
  /// than n / 2^32 of its chance.
  [[nodiscard]] std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>((std::uint64_t{word()} * static_cast<std::uint64_t>(n)) >> 32);
  }

 private:
  RandomStream stream_;
  std::uint64_t drawn_ = 0;
};

}  // namespace tessera::data
