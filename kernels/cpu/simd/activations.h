// Activations and their slopes on vectors. After simd/begin.h.
#pragma once

#include <tessera/kernels/cpu/simd/math.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr float kRoot2OverPi = 0x1.988454p-1F;
inline constexpr float kInverseRoot2Pi = 0x1.988454p-2F;
inline constexpr float kGeluCubic = 0.044715F;

struct Sigmoid {
  static VF of(VF x) { return logistic(x); }
};
struct Relu {
  static VF of(VF x) { return max(zero(), x); }
};
struct Silu {
  static VF of(VF x) { return x * logistic(x); }
};
struct HardSigmoid {
  static VF of(VF x) {
    return min(set1(6.0F), max(zero(), x + set1(3.0F))) / set1(6.0F);  // the second where it is nan
  }
};
// tanh(ln(1 + e)) is n / (n + 2) with n = e (e + 2); right of 20 it is 1.
struct Mish {
  static VF of(VF x) {
    const VF e = exp(min(set1(20.0F), x));
    const VF n = e * (e + set1(2.0F));
    return x * (n / (n + set1(2.0F)));
  }
};

/// 2 sqrt(2/pi) (x + 0.044715 x^3); gelu is then x times its logistic function.
[[gnu::always_inline]] inline VF gelu_argument(VF x) {
  return set1(2.0F * kRoot2OverPi) * x * fma(set1(kGeluCubic), x * x, set1(1.0F));
}
struct GeluTanh {
  static VF of(VF x) { return x * logistic(gelu_argument(x)); }
};
[[gnu::always_inline]] inline VF normal_cumulative(VF x, const NormalTail& tail) {
  return select_less(x, zero(), tail.cumulative, set1(1.0F) - tail.cumulative);
}
struct GeluErf {
  static VF of(VF x) { return x * normal_cumulative(x, normal_tail(x)); }
};

// The input of a function with numbers p, and where it is nan, nan.
struct Clamp {
  static VF of(VF x, const VF* p) { return min(p[1], max(p[0], x)); }
};
/// p: factors left and right of 0, and of x in the exponent.
struct Elu {
  static VF of(VF x, const VF* p) {
    return select_less(zero(), x, p[1] * x, p[0] * expm1_of_negative(min(zero(), x) * p[2]));
  }
};
/// p: factor of x, and the product from which on the result is x.
struct Softplus {
  static VF of(VF x, const VF* p) {
    const VF z = x * p[0];
    const VF curve = max(zero(), z) + log1p_of_fraction(exp(-abs(z)));
    return select_less(p[1], z, x, curve / p[0]);
  }
};
struct Prelu {
  static VF of(VF x, VF slope) { return select_less(zero(), x, x, slope * x); }
};

// What is not above 0 is below the smallest number there is; nan is neither, and lets g pass.
struct ReluGradient {
  static VF of(VF x, VF g) { return select_less(x, set1(0x1p-149F), zero(), g); }
};
struct SigmoidGradient {
  static VF of(VF y, VF g) { return g * y * (set1(1.0F) - y); }
};
struct TanhGradient {
  static VF of(VF y, VF g) { return g * ((set1(1.0F) - y) * (set1(1.0F) + y)); }
};
// 1 - s is taken as e^-x s: the difference would cancel.
struct SiluGradient {
  static VF of(VF x_in, VF g) {
    const VF x = max(set1(-87.0F), x_in);
    const VF e = exp(-x);
    const VF s = set1(1.0F) / (set1(1.0F) + e);
    return g * s * fma(x, e * s, set1(1.0F));
  }
};
struct GeluTanhGradient {
  static VF of(VF x_in, VF g) {
    // Further left the result is below the smallest normal number and e^-argument overflows;
    // further right it is g, and squares overflow.
    const VF x = max(set1(-10.0F), min(set1(10.0F), x_in));
    const VF e = exp(-gelu_argument(x));
    const VF s = set1(1.0F) / (set1(1.0F) + e);
    const VF slope = set1(2.0F * kRoot2OverPi) * fma(set1(3.0F * kGeluCubic), x * x, set1(1.0F));
    return g * s * fma(x * slope, e * s, set1(1.0F));
  }
};
struct GeluErfGradient {
  static VF of(VF x, VF g) {
    const NormalTail tail = normal_tail(x);
    const VF finite = max(set1(-15.0F), min(set1(15.0F), x));  // the bell is 0 there
    return g * fma(finite, set1(kInverseRoot2Pi) * tail.bell, normal_cumulative(x, tail));
  }
};

[[gnu::always_inline]] inline VF if_nan(VF x, VF yes, VF no) {
  const VI nan = (VI)(x != x);
  return (VF)((nan & (VI)yes) | (~nan & (VI)no));
}

}  // namespace tessera::cpu::TESSERA_ISA
