#include <tessera/kernels/cpu/simd/elementwise.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>

#include <tessera/kernels/cpu/simd/activations.h>
#include <tessera/kernels/cpu/simd/ahead.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

// Note [Whole vectors and the rest]. A function is a struct that says what it makes of a vector.
// Loops take whole vectors without masks and what is left with one: both go through the same
// instructions, so that an element's bits depend neither on its place nor on how threads share a
// range. Tables hold a loop for each function and dtype, in the order of the enums in
// kernels/cpu/elementwise.h.

struct Exp {
  static auto of(auto x) { return exp(x); }
};
struct Tanh {
  static auto of(auto x) { return tanh(x); }
};
struct Erf {
  static auto of(auto x) { return erf(x); }
};
struct Negate {
  static auto of(auto x) { return -x; }
};
struct Root {
  static auto of(auto x) { return sqrt(x); }
};
struct Absolute {
  static auto of(auto x) { return abs(x); }
};
struct Square {
  static auto of(auto x) { return x * x; }
};
struct Reciprocal {
  template <class V>
  static V of(V x) {
    return all<V>(1.0) / x;
  }
};
struct Logarithm {
  static auto of(auto x) { return log_of_any(x); }
};
struct InverseRoot {
  template <class V>
  static V of(V x) {
    return all<V>(1.0) / sqrt(x);
  }
};

struct Add {
  static auto of(auto a, auto b) { return a + b; }
};
struct Subtract {
  static auto of(auto a, auto b) { return a - b; }
};
struct Multiply {
  static auto of(auto a, auto b) { return a * b; }
};
struct Divide {
  static auto of(auto a, auto b) { return a / b; }
};

struct Maximum {
  static auto of(auto a, auto b) { return if_nan(a, a, max(a, b)); }
};
struct Minimum {
  static auto of(auto a, auto b) { return if_nan(a, a, min(a, b)); }
};

template <class T, class F>
void unary(const void* x_in, void* y_out, std::int64_t count) {
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  std::int64_t i = 0;
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) {
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
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) {
    store(y + i, F::of(load_in_order(a + i), load_in_order(b + i)));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(a + i, count - i), load_n(b + i, count - i)), count - i);
  }
}

template <class T, class F>
void scalar(const void* a_in, double b_in, void* y_out, std::int64_t count) {
  const T* a = static_cast<const T*>(a_in);
  T* y = static_cast<T*>(y_out);
  const auto b = all<VectorOf<T>>(b_in);
  std::int64_t i = 0;
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) {
    store(y + i, F::of(load_in_order(a + i), b));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(a + i, count - i), b), count - i);
  }
}

template <class T, class F>
void parametric(const void* x_in, const Parameters& numbers, void* y_out, std::int64_t count) {
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  using V = VectorOf<T>;
  const V p[] = {all<V>(numbers[0]), all<V>(numbers[1]), all<V>(numbers[2])};
  std::int64_t i = 0;
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) {
    store(y + i, F::of(load_in_order(x + i), p));
  }
  if (i < count) {
    store_n(y + i, F::of(load_n(x + i, count - i), p), count - i);
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

// A row has a function for each enumerator: a list of another length does not compile.
template <class T, class... F>
constexpr void fill_unary(ElementwiseTable::UnaryRange (&row)[sizeof...(F)]) {
  int i = 0;
  ((row[i++] = unary<T, F>), ...);
}
template <class T, class B, class... F>
constexpr void fill_binary(ElementwiseTable::BinaryRange (&row)[sizeof...(F)]) {
  int i = 0;
  ((row[i++] = binary<T, F, B>), ...);
}
template <class T, class... F>
constexpr void fill_arithmetic(ElementwiseTable& t, int dtype) {
  static_assert(sizeof...(F) == static_cast<int>(Binary::count));
  int i = 0;
  ((t.binary[dtype][i] = binary<T, F>, t.scalar[dtype][i] = scalar<T, F>, ++i), ...);
}

template <class T>
constexpr void fill(ElementwiseTable& t, int dtype) {
  fill_unary<T, Exp, Tanh, Erf, Sigmoid, Relu, Silu, GeluTanh, GeluErf, Negate, Root, Absolute,
             Square, Reciprocal, InverseRoot, Logarithm, Mish, HardSigmoid>(t.unary[dtype]);
  fill_binary<T, T, ReluBackward, SiluBackward, GeluTanhBackward, GeluErfBackward, SigmoidBackward,
              TanhBackward>(t.backward[dtype]);
  fill_arithmetic<T, Add, Subtract, Multiply, Divide, Maximum, Minimum, Prelu>(t, dtype);
  t.parametric[dtype][0] = parametric<T, Clamp>;
  t.parametric[dtype][1] = parametric<T, Elu>;
  t.parametric[dtype][2] = parametric<T, Softplus>;
}

constexpr ElementwiseTable make_elementwise() {
  ElementwiseTable t{};
  fill<float>(t, 0);
  fill<BFloat16>(t, 1);
  fill<double>(t, 2);
  fill_binary<float, BFloat16, Add, Subtract, Multiply, Divide, Maximum, Minimum, Prelu>(t.mixed);
  t.to_bf16 = convert<float, BFloat16>;
  t.to_f32 = convert<BFloat16, float>;
  return t;
}

constexpr ElementwiseTable kElementwiseTable = make_elementwise();

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kElementwiseAdded =
    IsaTable<ElementwiseTable>::add(Isa::TESSERA_ISA, &kElementwiseTable);
}
