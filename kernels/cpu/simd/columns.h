// Walking along the columns of a row in vectors, the last of which may be short. After
// simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/simd/ahead.h>
#include <tessera/kernels/cpu/simd/math.h>
#include <tessera/kernels/cpu/simd/math_f64.h>

namespace tessera::cpu::TESSERA_ISA {

/// The lowest number there is beside T's.
template <class T>
inline constexpr NumberOf<T> kLowest = sizeof(NumberOf<T>) == 8 ? NumberOf<T>(-__DBL_MAX__)
                                                                : -__FLT_MAX__;
/// What short vectors of exponents are filled up with: e^x is 0, beside the lowest numbers too.
inline constexpr float kNoTerm = -__builtin_inff();

template <class T>
[[gnu::always_inline]] inline VectorOf<T> load_up_to(const T* p, std::int64_t n) {
  return n == kLanesOf<T> ? load(p) : load_n(p, n);
}
template <class T>
[[gnu::always_inline]] inline void store_up_to(T* p, VectorOf<T> x, std::int64_t n) {
  if (n == kLanesOf<T>) {
    store(p, x);
  } else {
    store_n(p, x, n);
  }
}
/// Loads `n` elements; the other lanes are `filler`.
template <class T>
[[gnu::always_inline]] inline VectorOf<T> load_filled(const T* p, std::int64_t n, float filler) {
  if (n == kLanesOf<T>) {
    return load(p);
  }
  T lanes[kLanesOf<T>];
  for (int i = 0; i < kLanesOf<T>; ++i) {
    lanes[i] = i < n ? p[i] : T(filler);
  }
  return load(lanes);
}

/// Zero beyond n, where a shift by the mean would leave -mean.
template <class Number>
[[gnu::always_inline]] inline VectorOf<Number> keep_as(VectorOf<Number> x, std::int64_t n) {
  if (n == kLanesOf<Number>) {
    return x;
  }
  Number lanes[kLanesOf<Number>];
  store(lanes, x);
  return load_n(lanes, n);
}
[[gnu::always_inline]] inline VF keep(VF x, std::int64_t n) {
  return keep_as<float>(x, n);
}
[[gnu::always_inline]] inline VD keep(VD x, std::int64_t n) {
  return keep_as<double>(x, n);
}

/// Past the caches when `past`: the row is aligned to the vector then.
template <class T>
[[gnu::always_inline]] inline void write(T* p, VectorOf<T> x, std::int64_t n, bool past) {
  if (past && n == kLanesOf<T>) {
    stream(p, x);
  } else {
    store_up_to(p, x, n);
  }
}
[[gnu::always_inline]] inline void write(BFloat16* p, VF x, std::int64_t n, bool) {
  store_up_to(p, x, n);
}
[[gnu::always_inline]] inline bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % sizeof(VF) == 0;
}

/// Calls f(j, width) for the vectors, of kStep, of columns from j on.
template <int kStep = kLanes, class F>
[[gnu::always_inline]] inline void each_column(std::int64_t columns, const F& f) {
  std::int64_t j = 0;
  for (; j + kStep <= columns; j += kStep) {
    f(j, kStep);
  }
  if (j < columns) {
    f(j, columns - j);
  }
}

/// Calls f(j, width, chain) with the number of one of two chains of sums: vectors take turns, so
/// that the next addition need not wait for the last one.
template <int kStep = kLanes, class F>
[[gnu::always_inline]] inline void each_column_in_turns(std::int64_t columns, const F& f) {
  std::int64_t j = 0;
  for (; j + 2 * kStep <= columns; j += 2 * kStep) {
    f(j, kStep, 0);
    f(j + kStep, kStep, 1);
  }
  for (; j + kStep <= columns; j += kStep) {
    f(j, kStep, 0);
  }
  if (j < columns) {
    f(j, columns - j, 1);
  }
}

/// The largest number of a row; kLowest where none is larger, so that a shift by it is finite.
template <class T>
[[gnu::always_inline]] inline NumberOf<T> largest_of(const T* x, std::int64_t columns) {
  VectorOf<T> top[2] = {set1(kLowest<T>), set1(kLowest<T>)};
  each_column_in_turns<kLanesOf<T>>(
      columns, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
        top[chain] = max(load_filled(x + j, w, kNoTerm), top[chain]);
      });
  return largest(max(top[0], top[1]));
}

/// ln x for any x: a nan among the numbers behind a sum is still seen in its logarithm.
[[gnu::always_inline]] inline float scalar_log(float x) {
  return log_of_any(set1(x))[0];
}
[[gnu::always_inline]] inline double scalar_log(double x) {
  return log_of_any(set1(x))[0];
}

}  // namespace tessera::cpu::TESSERA_ISA
