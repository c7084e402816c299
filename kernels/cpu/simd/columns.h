// Walking along the columns of a row in vectors, the last of which may be short. After
// simd/begin.h and math.h.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/simd/ahead.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr float kLowest = -__FLT_MAX__;
/// What short vectors of exponents are filled up with: e^x is 0, beside the lowest numbers too.
inline constexpr float kNoTerm = -__builtin_inff();

template <class T>
[[gnu::always_inline]] inline VF load_up_to(const T* p, std::int64_t n) {
  return n == kLanes ? load(p) : load_n(p, n);
}
template <class T>
[[gnu::always_inline]] inline void store_up_to(T* p, VF x, std::int64_t n) {
  if (n == kLanes) {
    store(p, x);
  } else {
    store_n(p, x, n);
  }
}
/// As load_up_to, filled up with `filler`.
template <class T>
[[gnu::always_inline]] inline VF load_filled(const T* p, std::int64_t n, float filler) {
  if (n == kLanes) {
    return load(p);
  }
  T lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    lanes[i] = i < n ? p[i] : T(filler);
  }
  return load(lanes);
}

/// Zero beyond n, where a shift by the mean would leave -mean.
[[gnu::always_inline]] inline VF keep(VF x, std::int64_t n) {
  if (n == kLanes) {
    return x;
  }
  float lanes[kLanes];
  store(lanes, x);
  return load_n(lanes, n);
}

/// Past the caches when `past`: the row is aligned to the vector then.
[[gnu::always_inline]] inline void write(float* p, VF x, std::int64_t n, bool past) {
  if (past && n == kLanes) {
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

/// Calls f(j, width) for the vectors of columns from j on.
template <class F>
[[gnu::always_inline]] inline void each_column(std::int64_t columns, const F& f) {
  std::int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    f(j, kLanes);
  }
  if (j < columns) {
    f(j, columns - j);
  }
}

/// The same with the number of one of two chains of sums: vectors take turns, so that the next
/// addition need not wait for the last one.
template <class F>
[[gnu::always_inline]] inline void each_column_in_turns(std::int64_t columns, const F& f) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    f(j, kLanes, 0);
    f(j + kLanes, kLanes, 1);
  }
  for (; j + kLanes <= columns; j += kLanes) {
    f(j, kLanes, 0);
  }
  if (j < columns) {
    f(j, columns - j, 1);
  }
}

/// The largest number of a row; kLowest where none is larger, so that a shift by it is finite.
template <class T>
[[gnu::always_inline]] inline float largest_of(const T* x, std::int64_t columns) {
  VF top[2] = {set1(kLowest), set1(kLowest)};
  each_column_in_turns(
      columns, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
        top[chain] = max(load_filled(x + j, w, kNoTerm), top[chain]);
      });
  return largest(max(top[0], top[1]));
}

/// ln x for any x: a nan among the numbers behind a sum is still seen in its logarithm.
[[gnu::always_inline]] inline float scalar_log(float x) {
  return log_of_any(set1(x))[0];
}

}  // namespace tessera::cpu::TESSERA_ISA
