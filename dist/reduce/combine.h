// The innermost loops of reductions, compiled for each instruction set and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__clang__)
#define TESSERA_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define TESSERA_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace tessera::dist {

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {  // unsigned: overflow wraps
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

/// A NaN on either side wins.
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return (b < a || b != b) && a == a ? b : a;
  }
};

struct Max {
  template <class T>
  static T apply(T a, T b) {
    return (b > a || b != b) && a == a ? b : a;
  }
};

/// Two steps at once: the first one's result is the second one's left side.
template <class Op>
struct ThenRight {
  template <class T>
  static T apply(T a, T b, T c) {
    return Op::apply(Op::apply(a, b), c);
  }
};

/// The same, where it is the right side.
template <class Op>
struct ThenLeft {
  template <class T>
  static T apply(T a, T b, T c) {
    return Op::apply(c, Op::apply(a, b));
  }
};

namespace detail {

template <class Op, class T, class... Sources>
[[gnu::always_inline]] inline void combine_loop(T* out, std::size_t n, const Sources*... from) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = Op::apply(from[i]...);
  }
}

template <class To, class From>
[[gnu::always_inline]] inline void convert_loop(const From* from, To* to, std::size_t n) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) {
    to[i] = To(static_cast<float>(from[i]));
  }
}

#if defined(__x86_64__)
enum class VectorUnit { baseline, avx2, avx512 };

/// All that `combine_avx512` is compiled for.
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

inline VectorUnit vector_unit() {
  static const VectorUnit unit = has_avx512()                     ? VectorUnit::avx512
                                 : __builtin_cpu_supports("avx2") ? VectorUnit::avx2
                                                                  : VectorUnit::baseline;
  return unit;
}

template <class Op, class T, class... Sources>
[[gnu::target(TESSERA_AVX512)]] void combine_avx512(T* out, std::size_t n, const Sources*... from) {
  combine_loop<Op>(out, n, from...);
}
template <class Op, class T, class... Sources>
[[gnu::target("avx2")]] void combine_avx2(T* out, std::size_t n, const Sources*... from) {
  combine_loop<Op>(out, n, from...);
}
template <class To, class From>
[[gnu::target("avx2")]] void convert_avx2(const From* from, To* to, std::size_t n) {
  convert_loop(from, to, n);
}
#endif

}  // namespace detail

/// out[i] = Op(from[i]...), of two sources or, with ThenRight and ThenLeft, three; `out` may be one
/// of them.
template <class Op, class T, class... Sources>
void combine(T* out, std::size_t n, const Sources*... from) {
#if defined(__x86_64__)
  switch (detail::vector_unit()) {
    case detail::VectorUnit::avx512:
      return detail::combine_avx512<Op>(out, n, from...);
    case detail::VectorUnit::avx2:
      return detail::combine_avx2<Op>(out, n, from...);
    case detail::VectorUnit::baseline:
      break;
  }
#endif
  detail::combine_loop<Op>(out, n, from...);
}

/// to[i] = from[i], between a 16-bit float and float.
template <class To, class From>
void convert(const From* from, To* to, std::size_t n) {
#if defined(__x86_64__)
  if (detail::vector_unit() != detail::VectorUnit::baseline) {
    return detail::convert_avx2(from, to, n);
  }
#endif
  detail::convert_loop(from, to, n);
}

}  // namespace tessera::dist
