#include <tessera/kernels/cpu/simd/elementwise.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/ahead.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

constexpr float kRoot2OverPi = 0x1.988454p-1F;
constexpr float kCubic = 0.044715F;
constexpr float kRootHalf = 0x1.6a09e6p-1F;
constexpr float kInverseRoot2Pi = 0x1.988454p-2F;

struct Exp {
  static VF of(VF x) { return exp(x); }
};
struct Tanh {
  static VF of(VF x) { return tanh(x); }
};
struct Erf {
  static VF of(VF x) { return erf(x); }
};
struct Sigmoid {
  static VF of(VF x) { return logistic(x); }
};
struct Relu {
  static VF of(VF x) { return max(zero(), x); }
};
struct Silu {
  static VF of(VF x) { return x * logistic(x); }
};
struct Negate {
  static VF of(VF x) { return -x; }
};
struct Root {
  static VF of(VF x) { return sqrt(x); }
};
struct Absolute {
  static VF of(VF x) { return abs(x); }
};
struct Square {
  static VF of(VF x) { return x * x; }
};
struct Reciprocal {
  static VF of(VF x) { return set1(1.0F) / x; }
};
struct Logarithm {
  static VF of(VF x) { return log_of_any(x); }
};
struct InverseRoot {
  static VF of(VF x) { return set1(1.0F) / sqrt(x); }
};

/// 2 sqrt(2/pi) (x + 0.044715 x^3); gelu is then x times its logistic function.
[[gnu::always_inline]] inline VF gelu_argument(VF x) {
  return set1(2.0F * kRoot2OverPi) * x * fma(set1(kCubic), x * x, set1(1.0F));
}
// Further left the result is below the smallest normal number and e^-argument overflows.
[[gnu::always_inline]] inline VF gelu_clamped(VF x) {
  return max(set1(-10.0F), x);
}

struct GeluTanh {
  static VF of(VF x) { return gelu_clamped(x) * logistic(gelu_argument(gelu_clamped(x))); }
};
struct GeluErf {
  static VF of(VF x) {
    const VF half = set1(0.5F) * x;
    return fma(half, erf(x * set1(kRootHalf)), half);
  }
};

struct ReluGradient {
  static VF of(VF x, VF g) { return select_less(zero(), x, g, zero()); }
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
    const VF x = gelu_clamped(x_in);
    const VF e = exp(-gelu_argument(x));
    const VF s = set1(1.0F) / (set1(1.0F) + e);
    const VF slope = set1(2.0F * kRoot2OverPi) * fma(set1(3.0F * kCubic), x * x, set1(1.0F));
    return g * s * fma(x * slope, e * s, set1(1.0F));
  }
};
struct GeluErfGradient {
  static VF of(VF x, VF g) {
    const VF normal = set1(kInverseRoot2Pi) * exp(set1(-0.5F) * x * x);
    const VF cumulative = fma(set1(0.5F), erf(x * set1(kRootHalf)), set1(0.5F));
    return g * fma(x, normal, cumulative);
  }
};

struct Add {
  static VF of(VF a, VF b) { return a + b; }
};
struct Subtract {
  static VF of(VF a, VF b) { return a - b; }
};
struct Multiply {
  static VF of(VF a, VF b) { return a * b; }
};
struct Divide {
  static VF of(VF a, VF b) { return a / b; }
};

[[gnu::always_inline]] inline VF if_nan(VF x, VF yes, VF no) {
  const VI nan = (VI)(x != x);
  return (VF)((nan & (VI)yes) | (~nan & (VI)no));
}
struct Maximum {
  static VF of(VF a, VF b) { return if_nan(a, a, max(a, b)); }
};
struct Minimum {
  static VF of(VF a, VF b) { return if_nan(a, a, min(a, b)); }
};

template <class T, class F>
void unary(const void* x_in, void* y_out, std::int64_t count) {
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(y + i, F::of(load_in_order(x + i)));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(x + i, count - i)), count - i);
  }
}

template <class T, class F, class B = T>
void binary(const void* a_in, const void* b_in, void* y_out, std::int64_t count) {
  const T* a = static_cast<const T*>(a_in);
  const B* b = static_cast<const B*>(b_in);
  T* y = static_cast<T*>(y_out);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(y + i, F::of(load_in_order(a + i), load_in_order(b + i)));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(a + i, count - i), load_n(b + i, count - i)), count - i);
  }
}

template <class T, class F>
void scalar(const void* a_in, float b_in, void* y_out, std::int64_t count) {
  const T* a = static_cast<const T*>(a_in);
  T* y = static_cast<T*>(y_out);
  const VF b = set1(b_in);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(y + i, F::of(load_in_order(a + i), b));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(a + i, count - i), b), count - i);
  }
}

template <class T>
void clamp(const void* x_in, float low_in, float high_in, void* y_out, std::int64_t count) {
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  const VF low = set1(low_in);
  const VF high = set1(high_in);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(y + i, min(high, max(low, load_in_order(x + i))));  // the second one where it is nan
  }
  if (i < count) {
    store_n(y + i, min(high, max(low, load_n(x + i, count - i))), count - i);
  }
}

template <class From, class To>
void convert(const void* x_in, void* y_out, std::int64_t count) {
  const From* x = static_cast<const From*>(x_in);
  To* y = static_cast<To*>(y_out);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(y + i, load_in_order(x + i));
  }
  if (i < count) {
    store_n(y + i, load_n(x + i, count - i), count - i);
  }
}

template <class T, class... F>
constexpr void fill_unary(ElementwiseTable::UnaryRange* row) {
  int i = 0;
  ((row[i++] = unary<T, F>), ...);
}
template <class T, class... F>
constexpr void fill_binary(ElementwiseTable::BinaryRange* row) {
  int i = 0;
  ((row[i++] = binary<T, F>), ...);
}
template <class... F>
constexpr void fill_mixed(ElementwiseTable::BinaryRange* row) {
  static_assert(sizeof...(F) == static_cast<int>(Binary::count));
  int i = 0;
  ((row[i++] = binary<float, F, BFloat16>), ...);
}

template <class T>
constexpr void fill(ElementwiseTable& t, int dtype) {
  fill_unary<T, Exp, Tanh, Erf, Sigmoid, Relu, Silu, GeluTanh, GeluErf, Negate, Root, Absolute,
             Square, Reciprocal, InverseRoot, Logarithm>(t.unary[dtype]);
  fill_binary<T, ReluGradient, SiluGradient, GeluTanhGradient, GeluErfGradient>(t.gradient[dtype]);
  fill_binary<T, Add, Subtract, Multiply, Divide, Maximum, Minimum>(t.binary[dtype]);
  t.scalar[dtype][0] = scalar<T, Add>;
  t.scalar[dtype][1] = scalar<T, Subtract>;
  t.scalar[dtype][2] = scalar<T, Multiply>;
  t.scalar[dtype][3] = scalar<T, Divide>;
  t.scalar[dtype][4] = scalar<T, Maximum>;
  t.scalar[dtype][5] = scalar<T, Minimum>;
  t.clamp[dtype] = clamp<T>;
}

constexpr ElementwiseTable make() {
  ElementwiseTable t{};
  fill<float>(t, 0);
  fill<BFloat16>(t, 1);
  fill_mixed<Add, Subtract, Multiply, Divide, Maximum, Minimum>(t.mixed);
  t.to_bf16 = convert<float, BFloat16>;
  t.to_f32 = convert<BFloat16, float>;
  return t;
}

constexpr ElementwiseTable kTable = make();

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kElementwiseAdded =
    IsaTable<ElementwiseTable>::add(Isa::TESSERA_ISA, &kTable);
}
