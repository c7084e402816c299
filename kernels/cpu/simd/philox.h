// Random words in vectors, the same as those of core/base/philox.h, and what dropout makes of them.
// After simd/begin.h.
#pragma once

#include <cstdint>
#include <cstring>

#include <tessera/kernels/cpu/dropout.h>

namespace tessera::cpu::TESSERA_ISA {

using Bits = std::uint32_t __attribute__((vector_size(sizeof(VF)), may_alias));
using WideBits = std::uint64_t __attribute__((vector_size(sizeof(VF)), may_alias));

struct Product {
  Bits low, high;
};
[[gnu::always_inline]] inline Product multiply_words(Bits a, std::uint32_t m) {
  constexpr std::uint64_t kLow = 0xffffffffU;
  const auto even = (WideBits)even_products((VI)a, m);
  const auto odd = (WideBits)even_products((VI)((WideBits)a >> 32), m);
  return {(Bits)((even & kLow) | (odd << 32)), (Bits)((even >> 32) | (odd & ~kLow))};
}

/// Lanes of a and b in turns: a0 b0 a1 b1 ...
struct Zip {
  Bits first, second;
};
[[gnu::always_inline]] inline Zip zip(Bits a, Bits b) {
  Bits low{}, high{};
  for (int i = 0; i < kLanes; ++i) {
    low[i] = static_cast<std::uint32_t>(i / 2 + i % 2 * kLanes);
    high[i] = low[i] + kLanes / 2;
  }
  return {__builtin_shuffle(a, b, low), __builtin_shuffle(a, b, high)};
}

[[gnu::always_inline]] inline void store_bits(std::uint32_t* p, Bits x) {
  std::memcpy(p, &x, sizeof(x));
}

/// Blocks `first` to first + kLanes - 1 of the stream under `key`: 4 kLanes words to `out`.
inline void random_blocks(std::uint64_t key, std::uint64_t first, std::uint32_t* out) {
  Bits c0, c1;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t block = first + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(block);
    c1[i] = static_cast<std::uint32_t>(block >> 32);
  }
  Bits c2{}, c3{};
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const Product p0 = multiply_words(c0, 0xD2511F53U);
    const Product p1 = multiply_words(c2, 0xCD9E8D57U);
    c0 = p1.high ^ c1 ^ k0;
    c2 = p0.high ^ c3 ^ k1;
    c1 = p1.low;
    c3 = p0.low;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  const Zip even = zip(c0, c2), odd = zip(c1, c3);
  const Zip front = zip(even.first, odd.first), back = zip(even.second, odd.second);
  store_bits(out, front.first);
  store_bits(out + kLanes, front.second);
  store_bits(out + 2 * kLanes, back.first);
  store_bits(out + 3 * kLanes, back.second);
}

/// Which of up to kMost elements that follow each other in a stream dropout keeps.
template <int kMost>
class KeptElements {
 public:
  /// Draws elements first to first + count - 1.
  void draw(const DropoutStream& stream, std::uint64_t first, std::int64_t count) {
    skip_ = static_cast<std::int64_t>(first % 4);
    const std::uint64_t block = first / 4;
    for (std::int64_t b = 0; 4 * b < skip_ + count; b += kLanes) {
      random_blocks(stream.key, block + static_cast<std::uint64_t>(b), words_ + 4 * b);
    }
  }
  /// x where elements j, j + 1, ... are kept, else +0.
  [[gnu::always_inline]] VF select(const DropoutStream& stream, std::int64_t j, VF x) const {
    Bits words;
    std::memcpy(&words, words_ + skip_ + j, sizeof(words));
    return (VF)((Bits)(words >= stream.threshold) & (Bits)x);
  }
  [[gnu::always_inline]] VD select(const DropoutStream& stream, std::int64_t j, VD x) const {
    using HalfBits = std::uint32_t __attribute__((vector_size(sizeof(VD) / 2), may_alias));
    HalfBits half;
    std::memcpy(&half, words_ + skip_ + j, sizeof(half));
    const VU64 words = __builtin_convertvector(half, VU64);
    return (VD)((VU64)(words >= std::uint64_t{stream.threshold}) & (VU64)x);
  }

 private:
  std::int64_t skip_;
  // Whole blocks, and a vector more, for loads that begin inside a block.
  alignas(64) std::uint32_t words_[kMost + 8 * kLanes];
};

}  // namespace tessera::cpu::TESSERA_ISA
