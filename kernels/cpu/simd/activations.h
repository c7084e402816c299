// Activations and their slopes on vectors of floats or doubles. After simd/begin.h.
#pragma once

#include <tessera/kernels/cpu/simd/math.h>
#include <tessera/kernels/cpu/simd/math_f64.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr double kRoot2OverPi = 0x1.9884533d43651p-1;
inline constexpr double kInverseRoot2Pi = 0x1.9884533d43651p-2;
inline constexpr double kGeluCubic = 0.044715;
static_assert(static_cast<float>(kRoot2OverPi) == 0x1.988454p-1F);
static_assert(static_cast<float>(kGeluCubic) == 0.044715F);

/// Where functions of numbers in lanes of V reach their ends.
template <class V>
struct Ends {
  static constexpr bool kWide = sizeof(V{}[0]) == sizeof(double);
  static constexpr double kExponent = kWide ? -708 : -87;  ///< e^-x is finite from here on
  static constexpr double kGeluTanh = kWide ? 21 : 10;  ///< e^argument and squares are finite up to
  static constexpr double kBell = kWide ? 39 : 15;      ///< e^(-x^2 / 2) is 0
  static constexpr double kAboveZero = kWide ? 0x1p-1074 : 0x1p-149;
};

struct Sigmoid {
  static auto of(auto x) { return logistic(x); }
};
struct Relu {
  template <class V>
  static V of(V x) {
    return max(V{}, x);
  }
};
struct Silu {
  static auto of(auto x) { return x * logistic(x); }
};
struct HardSigmoid {
  template <class V>
  static V of(V x) {
    return min(all<V>(6.0), max(V{}, x + all<V>(3.0))) / all<V>(6.0);  // the second where it is nan
  }
};
// tanh(ln(1 + e)) is n / (n + 2) with n = e (e + 2); right of 20 it is 1.
struct Mish {
  template <class V>
  static V of(V x) {
    const V e = exp(min(all<V>(20.0), x));
    const V n = e * (e + all<V>(2.0));
    return x * (n / (n + all<V>(2.0)));
  }
};

/// 2 sqrt(2/pi) (x + 0.044715 x^3); gelu is then x times its logistic function.
template <class V>
[[gnu::always_inline]] inline V gelu_argument(V x) {
  return all<V>(2 * kRoot2OverPi) * x * fma(all<V>(kGeluCubic), x * x, all<V>(1.0));
}
struct GeluTanh {
  static auto of(auto x) { return x * logistic(gelu_argument(x)); }
};
template <class V, class Tail>
[[gnu::always_inline]] inline V normal_cumulative(V x, const Tail& tail) {
  return select_less(x, V{}, tail.cumulative, all<V>(1.0) - tail.cumulative);
}
struct GeluErf {
  static auto of(auto x) { return x * normal_cumulative(x, normal_tail(x)); }
};

// The input of a function with numbers p, and where it is nan, nan.
struct Clamp {
  template <class V>
  static V of(V x, const V* p) {
    return min(p[1], max(p[0], x));
  }
};
/// p: factors left and right of 0, and of x in the exponent.
struct Elu {
  template <class V>
  static V of(V x, const V* p) {
    return select_less(V{}, x, p[1] * x, p[0] * expm1_of_negative(min(V{}, x) * p[2]));
  }
};
/// p: factor of x, and the product from which on the result is x.
struct Softplus {
  template <class V>
  static V of(V x, const V* p) {
    const V z = x * p[0];
    const V curve = max(V{}, z) + log1p_of_fraction(exp(-abs(z)));
    return select_less(p[1], z, x, curve / p[0]);
  }
};
struct Prelu {
  template <class V>
  static V of(V x, V slope) {
    return select_less(V{}, x, x, slope * x);
  }
};

// What is not above 0 is below the smallest number there is; nan is neither, and lets g pass.
struct ReluBackward {
  template <class V>
  static V of(V x, V g) {
    return select_less(x, all<V>(Ends<V>::kAboveZero), V{}, g);
  }
};
struct SigmoidBackward {
  template <class V>
  static V of(V y, V g) {
    return g * y * (all<V>(1.0) - y);
  }
};
struct TanhBackward {
  template <class V>
  static V of(V y, V g) {
    return g * ((all<V>(1.0) - y) * (all<V>(1.0) + y));
  }
};
// 1 - s is taken as e^-x s: the difference would cancel.
struct SiluBackward {
  template <class V>
  static V of(V x_in, V g) {
    const V x = max(all<V>(Ends<V>::kExponent), x_in);
    const V e = exp(-x);
    const V s = all<V>(1.0) / (all<V>(1.0) + e);
    return g * s * fma(x, e * s, all<V>(1.0));
  }
};
struct GeluTanhBackward {
  template <class V>
  static V of(V x_in, V g) {
    // Further left the result is below the smallest normal number and e^-argument overflows;
    // further right it is g, and squares overflow.
    const V x = max(all<V>(-Ends<V>::kGeluTanh), min(all<V>(Ends<V>::kGeluTanh), x_in));
    const V e = exp(-gelu_argument(x));
    const V s = all<V>(1.0) / (all<V>(1.0) + e);
    const V slope =
        all<V>(2 * kRoot2OverPi) * fma(all<V>(3.0) * all<V>(kGeluCubic), x * x, all<V>(1.0));
    return g * s * fma(x * slope, e * s, all<V>(1.0));
  }
};
struct GeluErfBackward {
  template <class V>
  static V of(V x, V g) {
    const auto tail = normal_tail(x);
    const V finite =
        max(all<V>(-Ends<V>::kBell), min(all<V>(Ends<V>::kBell), x));  // the bell is 0 there
    return g * fma(finite, all<V>(kInverseRoot2Pi) * tail.bell, normal_cumulative(x, tail));
  }
};

[[gnu::always_inline]] inline VF if_nan(VF x, VF yes, VF no) {
  const VI nan = (VI)(x != x);
  return (VF)((nan & (VI)yes) | (~nan & (VI)no));
}
[[gnu::always_inline]] inline VD if_nan(VD x, VD yes, VD no) {
  const VL nan = (VL)(x != x);
  return (VD)((nan & (VL)yes) | (~nan & (VL)no));
}

}  // namespace tessera::cpu::TESSERA_ISA
