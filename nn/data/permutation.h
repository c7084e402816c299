// A random order of the numbers 0 to n - 1 of which any place can be computed alone.
#pragma once

#include <cstdint>

namespace tessera::data {

/// A keyed bijection of [0, size): a Feistel network with Philox as its round function over the
/// next power of two, walked along its cycle until it lands inside (Black and Rogaway, "Ciphers
/// with Arbitrary Finite Domains", CT-RSA 2002). It takes no memory and no time to set up.
class Permutation {
 public:
  /// Throws InvalidArgument for size < 1.
  Permutation(std::int64_t size, std::uint64_t key);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  /// The number at `place` in [0, size).
  [[nodiscard]] std::int64_t operator[](std::int64_t place) const;

 private:
  [[nodiscard]] std::uint64_t encipher(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t key_;
  int low_bits_;   ///< of the right half
  int high_bits_;  ///< of the left half
};

}  // namespace tessera::data
