// Vectors of 4 floats in the compiler's own vector type: what every CPU has (SSE2, NEON).
// There is no fused multiply-add: fma rounds twice.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <tessera/core/tensor/half.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kLanes = 4;
using VF = float __attribute__((vector_size(16), may_alias));
using VI = std::int32_t __attribute__((vector_size(16), may_alias));
using VU = std::uint32_t __attribute__((vector_size(16), may_alias));

[[gnu::always_inline]] inline VF set1(float x) {
  return VF{x, x, x, x};
}
[[gnu::always_inline]] inline VF zero() {
  return VF{};
}
[[gnu::always_inline]] inline VF load_n(const float* p, std::int64_t n) {
  VF x{};
  std::memcpy(&x, p, static_cast<std::size_t>(n) * sizeof(float));
  return x;
}
[[gnu::always_inline]] inline VF load(const float* p) {
  VF x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}
[[gnu::always_inline]] inline void store(float* p, VF x) {
  std::memcpy(p, &x, sizeof(x));
}
[[gnu::always_inline]] inline void store_n(float* p, VF x, std::int64_t n) {
  std::memcpy(p, &x, static_cast<std::size_t>(n) * sizeof(float));
}
[[gnu::always_inline]] inline void stream(float* p, VF x) {
  store(p, x);
}
[[gnu::always_inline]] inline void stream_end() {}

[[gnu::always_inline]] inline VF load(const BFloat16* p) {
  return (VF)(VU{p[0].bits, p[1].bits, p[2].bits, p[3].bits} << 16);
}
[[gnu::always_inline]] inline VF load_n(const BFloat16* p, std::int64_t n) {
  BFloat16 copy[4] = {};
  std::memcpy(copy, p, static_cast<std::size_t>(n) * sizeof(BFloat16));
  return load(copy);
}
/// The bits of x rounded to bf16 (nearest, ties to even; NaN kept), in the upper half.
[[gnu::always_inline]] inline VU round_bf16(VF x) {
  const VU word = (VU)x;
  const VU rounded = word + 0x7fffU + ((word >> 16) & 1U);
  const VU nan = (VU)(x != x);
  return (nan & (word | 0x400000U)) | (~nan & rounded);
}
[[gnu::always_inline]] inline VF as_bf16(VF x) {
  return (VF)(round_bf16(x) & 0xffff0000U);
}
[[gnu::always_inline]] inline void store_n(BFloat16* p, VF x, std::int64_t n) {
  const VU word = round_bf16(x) >> 16;
  for (std::int64_t i = 0; i < n; ++i) {
    p[i].bits = static_cast<std::uint16_t>(word[i]);
  }
}
[[gnu::always_inline]] inline void store(BFloat16* p, VF x) {
  store_n(p, x, kLanes);
}

[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return a * b + c;
}
[[gnu::always_inline]] inline VF fnma(VF a, VF b, VF c) {
  return c - a * b;
}
/// a > b ? a : b, so b where either is NaN.
[[gnu::always_inline]] inline VF max(VF a, VF b) {
  return a > b ? a : b;
}
[[gnu::always_inline]] inline VF min(VF a, VF b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline VF sqrt(VF a) {
  return VF{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])};
}
[[gnu::always_inline]] inline VF abs(VF a) {
  return (VF)((VU)a & 0x7fffffffU);
}
/// |magnitude| with the sign bit of sign.
[[gnu::always_inline]] inline VF copysign(VF magnitude, VF sign) {
  return (VF)(((VU)magnitude & 0x7fffffffU) | ((VU)sign & 0x80000000U));
}
/// a < b ? yes : no.
[[gnu::always_inline]] inline VF select_less(VF a, VF b, VF yes, VF no) {
  return a < b ? yes : no;
}
/// Nearest integer, ties to even, for |a| < 2^22: the sum's last bit is worth one.
[[gnu::always_inline]] inline VF round(VF a) {
  return (a + 0x1.8p23F) - 0x1.8p23F;
}
/// a · 2^n for integral n in [-126, 128], in two factors: 2^128 itself is infinite.
[[gnu::always_inline]] inline VF scale2(VF a, VF n) {
  const VI whole = __builtin_convertvector(n, VI);
  const VI half = whole >> 1;
  return a * (VF)((half + 127) << 23) * (VF)((whole - half + 127) << 23);
}
/// 2^n for an integral n in [-127, 127], where 2^-127 is taken as 0.
struct Power {
  VF n, factor;
  [[gnu::always_inline]] VF times(VF a) const { return a * factor; }
};
inline constexpr float kVanishes = -88.0F;  ///< e^x is 2^-127 times something from here on
/// n is nearest to x · y. Sums with this number have no fraction, and their last bits are n + 127:
/// a float's exponent.
[[gnu::always_inline]] inline Power power_near(VF x, VF y) {
  const VF whole = set1(0x1.8p23F + 127);
  const VF sum = fma(x, y, whole);
  return {sum - whole, (VF)((VI)sum << 23)};
}
/// The sum of all lanes, halves first.
[[gnu::always_inline]] inline float sum(VF a) {
  return (a[0] + a[2]) + (a[1] + a[3]);
}
[[gnu::always_inline]] inline float largest(VF a) {
  const float even = a[0] > a[2] ? a[0] : a[2];
  const float odd = a[1] > a[3] ? a[1] : a[3];
  return even > odd ? even : odd;
}

/// Products of lanes 0, 2, ... of unsigned words with m, in 64 bits each.
[[gnu::always_inline]] inline VI even_products(VI a, std::uint32_t m) {
  using Wide = std::uint64_t __attribute__((vector_size(16)));
  return (VI)(((Wide)a & 0xffffffffU) * std::uint64_t{m});
}

}  // namespace tessera::cpu::TESSERA_ISA
