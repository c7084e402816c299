// The functions of math.h on vectors of doubles. Polynomials interpolate at Chebyshev's points.
// After simd/begin.h.
#pragma once

#include <array>
#include <cstddef>

namespace tessera::cpu::TESSERA_ISA {

template <std::size_t N>
[[gnu::always_inline]] inline VD polynomial(VD x, const std::array<double, N>& c) {
  VD sum = set1(c[N - 1]);
#pragma GCC unroll 24
  for (std::size_t i = N - 1; i > 0; --i) {
    sum = fma(sum, x, set1(c[i - 1]));
  }
  return sum;
}

inline constexpr double kLn2HighF64 = 0x1.62e42feep-1;       // ln 2, whose multiples are exact
inline constexpr double kLn2LowF64 = 0x1.a39ef35793c76p-33;  // ln 2 minus that
inline constexpr double kLog2EF64 = 0x1.71547652b82fep0;

/// (e^r - 1 - r) / r^2 for |r| up to ln 2 / 2.
[[gnu::always_inline]] inline VD exponent_tail(VD r) {
  constexpr std::array<double, 10> kTail{
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d37p-5,  0x1.11111111109a6p-7,
      0x1.6c16c1789d1d7p-10, 0x1.a01a01a7cebcdp-13, 0x1.a019b8ca26fcfp-16, 0x1.71de0d85293b8p-19,
      0x1.2891d4ffbb0f9p-22, 0x1.af390ba7e6f47p-26};
  return polynomial(r, kTail);
}
[[gnu::always_inline]] inline VD whole_exponent(VD x) {
  return round(x * set1(kLog2EF64));
}
[[gnu::always_inline]] inline VD rest_of_exponent(VD x, VD n) {
  return fnma(n, set1(kLn2LowF64), fnma(n, set1(kLn2HighF64), x));
}
/// e^(n ln 2 + r), for n in [-1076, 1024].
[[gnu::always_inline]] inline VD exp_of_parts(VD n, VD r) {
  return scale2(fma(r * r, exponent_tail(r), set1(1.0) + r), n);
}

/// e^x for any x.
[[gnu::always_inline]] inline VD exp(VD x_in) {
  const VD x = max(set1(-745.5), min(set1(709.9), x_in));  // 0 and infinity; nan stays
  const VD n = whole_exponent(x);
  return exp_of_parts(n, rest_of_exponent(x, n));
}
/// e^x, too: doubles gain nothing from a smaller range.
[[gnu::always_inline]] inline VD exp_of_difference(VD x) {
  return exp(x);
}

/// e^x - 1 for x <= 0, good near 0 too.
[[gnu::always_inline]] inline VD expm1_of_negative(VD x_in) {
  const VD x = max(set1(-40.0), x_in);  // further left it is -1
  const VD n = whole_exponent(x);
  const VD r = rest_of_exponent(x, n);
  const VD whole = power_of_2(n);
  return fma(fma(r * r, exponent_tail(r), r), whole, whole - set1(1.0));
}

/// ln x for normal x > 0: with s = r / (2 + r), 1 + r = (1 + s) / (1 - s).
[[gnu::always_inline]] inline VD log(VD x) {
  constexpr std::array<double, 8> kSeries{
      0x1.5555555555555p-1, 0x1.9999999999a39p-2, 0x1.24924924769dap-2, 0x1.c71c7201ac827p-3,
      0x1.745cf8e1c0fa9p-3, 0x1.3b1c3cbe60859p-3, 0x1.0fbdd00a2d71ep-3, 0x1.0c0bafbcf4d3ap-3};
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)). Bits of any x, so unsigned: they may wrap around.
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const VU64 moved = (VU64)x - kRootHalf;
  // Made whole numbers beside 2^52 · 1.5, which keeps signs.
  const VL biased = (VL)((moved + (std::uint64_t{1} << 62)) >> 52);
  const VD e = (VD)(biased + (VL)set1(0x1.8p52)) - set1(0x1.8p52 + 1024);
  const VD m = (VD)((VU64)x - ((VU64)(biased - 1024) << 52));
  const VD r = m - set1(1.0);
  const VD s = r / (set1(2.0) + r);
  const VD square = s * s;
  const VD half = set1(0.5) * r * r;
  const VD series = square * polynomial(square, kSeries);
  const VD low = fma(s, half + series, e * set1(kLn2LowF64));
  return fma(e, set1(kLn2HighF64), r - (half - low));
}

/// ln x for any x: -infinity at 0, nan below.
[[gnu::always_inline]] inline VD log_of_any(VD x) {
  const VD smallest = set1(__DBL_MIN__);
  const VD normal = select_less(x, smallest, x * set1(0x1p54), x);
  const VD shift = select_less(x, smallest, set1(-54 * 0x1.62e42fefa39efp-1), zero_double());
  const VD finite = log(max(normal, smallest)) + shift;  // what is below 0 is replaced at the end
  const VD positive = select_less(set1(__DBL_MAX__), x, x, finite);
  const VD edge = select_less(x, zero_double(), set1(__builtin_nan("")), set1(-__builtin_inf()));
  return select_less(zero_double(), x, positive, edge + (x - x));  // x - x: nan where x is
}

/// ln(1 + x) for x in [0, 1], good near 0 too: what 1 + x rounds away is added.
[[gnu::always_inline]] inline VD log1p_of_fraction(VD x) {
  const VD sum = set1(1.0) + x;
  return log(sum) + (x - (sum - set1(1.0))) / sum;
}

/// 1 / (1 + e^-x)
[[gnu::always_inline]] inline VD logistic(VD x) {
  return set1(1.0) / (set1(1.0) + exp(-x));
}

[[gnu::always_inline]] inline VD tanh(VD x) {
  const VD t = expm1_of_negative(set1(-2.0) * abs(x));
  return copysign(t / (set1(2.0) + t), x);
}

/// The normal distribution function left of its middle, and e^(-x^2 / 2), which it is made of.
struct NormalTailF64 {
  VD cumulative;  ///< of -|x|
  VD bell;
};

/// The quotient of the two is a polynomial, as for floats: in 1 / (1 + c |x|), fitted up to 39,
/// where both are 0.
[[gnu::always_inline]] inline NormalTailF64 normal_tail(VD x) {
  constexpr std::array<double, 22> kQuotient{
      0x1.4beb83a1fad0ep-4, 0x1.4beb8393a871fp-4,  0x1.3e399dca70bbdp-4, 0x1.22d5a966499bep-4,
      0x1.f6e7e682c1c16p-5, 0x1.96bdbeffbe0ddp-5,  0x1.305383ca9c863p-5, 0x1.866a788573536p-6,
      0x1.2c10c56ac2fd4p-6, -0x1.69addf2f97542p-7, 0x1.c05f32b882339p-5, -0x1.246449c45ee04p-3,
      0x1.30b8a9ef32487p-2, -0x1.0935b29ae8aa5p-1, 0x1.6f4732af76522p-1, -0x1.94634766e90dcp-1,
      0x1.5a8a3dc71eb7ep-1, -0x1.bc9fab6a05a9ap-2, 0x1.98536f0da9519p-3, -0x1.f96ab56890998p-5,
      0x1.79ef6404ba794p-7, -0x1.0286863e1e0e2p-10};
  const VD t = min(set1(39.0), abs(x));
  const VD head = (VD)((VL)t & ~std::int64_t{0x7ffffff});
  const VD power = set1(-0.5) * head * head;
  const VD n = whole_exponent(power);
  const VD r = rest_of_exponent(power, n) + set1(-0.5) * (t - head) * (t + head);
  const VD bell = exp_of_parts(n, r);
  const VD w = set1(1.0) / fma(set1(0.203125), t, set1(1.0));
  return {bell * (w * polynomial(w, kQuotient)), bell};
}

/// erf(x): odd polynomial below 1, the normal distribution above.
[[gnu::always_inline]] inline VD erf(VD x) {
  constexpr std::array<double, 13> kSmall{
      0x1.20dd750429b6dp+0,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,  -0x1.b82ce31284e00p-6,
      0x1.565bcd0dbaa38p-8,  -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17,
      0x1.b9df224ca4b97p-20, -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30,
      0x1.05ffd737fb32ep-34};
  const VD t = abs(x);
  const VD square = x * x;
  const VD small = x * polynomial(square, kSmall);
  const VD outside = normal_tail(t * set1(0x1.6a09e667f3bcdp+0)).cumulative;
  const VD large = copysign(set1(1.0) - set1(2.0) * outside, x);
  return select_less(t, set1(1.0), small, large);
}

}  // namespace tessera::cpu::TESSERA_ISA
