// exp, log, tanh, erf, the logistic and the normal function on vectors, good to about 2 units in
// the last place. Polynomials are minimax fits. After simd/begin.h.
#pragma once

#include <array>
#include <cstddef>

namespace tessera::cpu::TESSERA_ISA {

/// c[0] + c[1] x + ..., highest power first in the chain.
template <std::size_t N>
[[gnu::always_inline]] inline VF polynomial(VF x, const std::array<float, N>& c) {
  VF sum = set1(c[N - 1]);
#pragma GCC unroll 16
  for (std::size_t i = N - 1; i > 0; --i) {
    sum = fma(sum, x, set1(c[i - 1]));
  }
  return sum;
}

inline constexpr float kLn2High = 0x1.62e4p-1F;         // ln 2, whose multiples are exact
inline constexpr float kLn2Low = 0x1.7f7d1cp-20F;       // ln 2 minus that
inline constexpr float kSmallestExponent = -87.33654F;  // below, e^x is subnormal: taken as 0

/// e^x = 2^n (1 + r + square * tail), where r is what x is more than n ln 2. The polynomial is cut
/// in halves (Estrin's scheme): as the sums of a softmax wait for nothing else, its depth counts.
struct ExponentSeries {
  VF square, tail;
};
[[gnu::always_inline]] inline ExponentSeries exponent_series(VF r) {
  constexpr std::array<float, 2> kLow{0x1.fffffcp-2F, 0x1.555490p-3F};
  constexpr std::array<float, 2> kMiddle{0x1.5558f8p-5F, 0x1.123b14p-7F};
  constexpr float kHigh = 0x1.6a2282p-10F;
  const VF square = r * r;
  const VF upper = fma(square, set1(kHigh), polynomial(r, kMiddle));
  return {square, fma(square, upper, polynomial(r, kLow))};
}
inline constexpr float kLog2E = 0x1.715476p0F;
[[gnu::always_inline]] inline VF whole_exponent(VF x) {
  return round(x * set1(kLog2E));
}
[[gnu::always_inline]] inline VF rest_of_exponent(VF x, VF n) {
  return fnma(n, set1(kLn2Low), fnma(n, set1(kLn2High), x));
}

/// e^x where the result is a number or, in the last step, becomes 0 or infinity.
[[gnu::always_inline]] inline VF exp_in_range(VF x) {
  const VF n = whole_exponent(x);
  const VF r = rest_of_exponent(x, n);
  const ExponentSeries s = exponent_series(r);
  return scale2(fma(s.square, s.tail, set1(1.0F) + r), n);
}

/// e^x; 0 where the result would be subnormal or less, infinity above 88.7.
[[gnu::always_inline]] inline VF exp(VF x) {
  const VF y = exp_in_range(max(set1(kSmallestExponent), min(set1(88.8F), x)));
  return select_less(x, set1(kSmallestExponent), zero(), y);
}

/// e^x - 1 for x <= 0, good near 0 too.
[[gnu::always_inline]] inline VF expm1_of_negative(VF x_in) {
  const VF x = max(set1(-30.0F), x_in);  // further left it is -1
  const VF n = whole_exponent(x);
  const VF r = rest_of_exponent(x, n);
  const ExponentSeries s = exponent_series(r);
  return scale2(fma(s.square, s.tail, r), n) + (scale2(set1(1.0F), n) - set1(1.0F));
}

/// e^x for x below 88, such as differences from the largest of several numbers. Cheaper: results
/// that would be subnormal may be 0.
[[gnu::always_inline]] inline VF exp_of_difference(VF x_in) {
  const VF x = max(set1(kVanishes), x_in);
  const Power power = power_near(x, set1(kLog2E));
  const VF r = rest_of_exponent(x, power.n);
  const ExponentSeries s = exponent_series(r);
  return power.times(fma(s.square, s.tail, set1(1.0F) + r));
}

/// ln x for normal x > 0.
[[gnu::always_inline]] inline VF log(VF x) {
  constexpr std::array<float, 9> kSeries{0x1.555548p-2F,  -0x1.000006p-2F, 0x1.99a4b6p-3F,
                                         -0x1.555c4ep-3F, 0x1.233754p-3F,  -0x1.fc21bap-4F,
                                         0x1.e6f14cp-4F,  -0x1.de3e6ep-4F, 0x1.145892p-4F};
  constexpr int kRootHalf = 0x3f3504f3;  // x = m 2^e with m in [sqrt(1/2), sqrt(2))
  const VI bits = (VI)x;
  const VI e = (bits - kRootHalf) >> 23;
  const VF r = (VF)(bits - (e << 23)) - set1(1.0F);
  const VF square = r * r;
  const VF exponent = (VF) __builtin_convertvector(e, VF);
  const VF tail = fma(r * square, polynomial(r, kSeries), exponent * set1(kLn2Low));
  return fma(exponent, set1(kLn2High), fma(set1(-0.5F), square, tail) + r);
}

/// ln x for any x: -infinity at 0, nan below.
[[gnu::always_inline]] inline VF log_of_any(VF x) {
  const VF smallest = set1(__FLT_MIN__);
  const VF normal = select_less(x, smallest, x * set1(0x1p24F), x);
  const VF shift = select_less(x, smallest, set1(-24 * 0x1.62e43p-1F), zero());
  const VF finite = log(max(normal, smallest)) + shift;  // what is below 0 is replaced at the end
  const VF positive = select_less(set1(__FLT_MAX__), x, x, finite);
  const VF edge = select_less(x, zero(), set1(__builtin_nanf("")), set1(-__builtin_inff()));
  return select_less(zero(), x, positive, edge + (x - x));  // x - x: nan where x is
}

/// ln(1 + x) for x in [0, 1], good near 0 too: what 1 + x rounds away is added.
[[gnu::always_inline]] inline VF log1p_of_fraction(VF x) {
  const VF sum = set1(1.0F) + x;
  return log(sum) + (x - (sum - set1(1.0F))) / sum;
}

/// 1 / (1 + e^-x)
[[gnu::always_inline]] inline VF logistic(VF x) {
  return set1(1.0F) / (set1(1.0F) + exp(-x));
}

[[gnu::always_inline]] inline VF tanh(VF x) {
  constexpr std::array<float, 6> kSmall{-0x1.555554p-2F, 0x1.111066p-3F,  -0x1.b9ee8ep-5F,
                                        0x1.638b44p-6F,  -0x1.0bf494p-7F, 0x1.18e04ep-9F};
  const VF t = abs(x);
  const VF square = x * x;
  const VF small = fma(x * square, polynomial(square, kSmall), x);
  const VF large = set1(1.0F) - set1(2.0F) / (exp(t + t) + set1(1.0F));
  return select_less(t, set1(0.625F), small, copysign(large, x));
}

/// erf(x): odd polynomial below 1, 1 - e^q(|x|) above, where q fits log(erfc) on [1, 4].
[[gnu::always_inline]] inline VF erf(VF x) {
  constexpr std::array<float, 8> kSmall{0x1.20dd76p+0F,  -0x1.812746p-2F, 0x1.ce2f08p-4F,
                                        -0x1.b829a8p-6F, 0x1.5628f0p-8F,  -0x1.bcbea4p-11F,
                                        0x1.d826b0p-14F, -0x1.43841cp-17F};
  constexpr std::array<float, 8> kTail{0x1.8a59a4p-13F, -0x1.212c0ep+0F, -0x1.443566p-1F,
                                       -0x1.bc1520p-4F, 0x1.9d031ap-6F,  -0x1.138cdap-8F,
                                       0x1.cec65cp-12F, -0x1.6bd858p-16F};
  const VF t = abs(x);
  const VF square = x * x;
  const VF small = x * polynomial(square, kSmall);
  const VF clamped = min(set1(4.0F), t);
  const VF large = copysign(set1(1.0F) - exp(polynomial(clamped, kTail)), x);
  return select_less(t, set1(1.0F), small, large);
}

/// The normal distribution function left of its middle, and e^(-x^2 / 2), which it is made of.
struct NormalTail {
  VF cumulative;  ///< of -|x|
  VF bell;
};

/// Their quotient is smooth: a polynomial in 1 / (1 + c |x|), fitted up to 13.5; from 14.4 on both
/// are 0. The square is taken in two parts, of which the first is exact: what rounding it would
/// lose are 40 units in the last place of the power.
[[gnu::always_inline]] inline NormalTail normal_tail(VF x) {
  constexpr std::array<float, 9> kQuotient{0x1.bb7f6ap-17F, 0x1.e3cc08p-4F,  0x1.f2d54ep-4F,
                                           0x1.6a2666p-4F,  0x1.42e99cp-3F,  -0x1.a418a6p-4F,
                                           0x1.064d30p-2F,  -0x1.6e36a4p-3F, 0x1.4150c0p-5F};
  const VF t = min(set1(15.0F), abs(x));
  const VF head = (VF)((VI)t & ~0xfff);
  const VF power = set1(-0.5F) * head * head;
  const VF n = whole_exponent(power);
  const VF r = rest_of_exponent(power, n) + set1(-0.5F) * (t - head) * (t + head);
  const ExponentSeries s = exponent_series(r);
  const VF bell = scale2(fma(s.square, s.tail, set1(1.0F) + r), n);
  const VF w = set1(1.0F) / fma(set1(0.296875F), t, set1(1.0F));
  return {bell * polynomial(w, kQuotient), bell};
}

}  // namespace tessera::cpu::TESSERA_ISA
