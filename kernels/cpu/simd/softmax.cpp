#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/rows.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

constexpr float kLowest = -__FLT_MAX__;

/// The last, short vector of a row, filled up with `filler`.
template <class T>
VF load_tail(const T* p, std::int64_t n, float filler) {
  T lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    lanes[i] = i < n ? p[i] : T(filler);
  }
  return load(lanes);
}

template <class T>
float row_maximum(const T* x, std::int64_t columns) {
  VF top = set1(kLowest);
  VF top_2 = top;
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    top = max(load(x + j), top);
    top_2 = max(load(x + j + kLanes), top_2);
  }
  for (; j + kLanes <= columns; j += kLanes) {
    top = max(load(x + j), top);
  }
  if (j < columns) {
    top = max(load_tail(x + j, columns - j, kLowest), top);
  }
  return largest(max(top, top_2));
}

/// Sum of e^(x - maximum); with `y` the terms are stored as well.
template <class T>
float sum_exponentials(const T* x, float maximum, std::int64_t columns, T* y) {
  const VF m = set1(maximum);
  VF even = zero();
  VF odd = zero();
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    const VF a = exp(load(x + j) - m);
    const VF b = exp(load(x + j + kLanes) - m);
    even = even + a;
    odd = odd + b;
    if (y != nullptr) {
      store(y + j, a);
      store(y + j + kLanes, b);
    }
  }
  for (; j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    const VF e = exp((left >= kLanes ? load(x + j) : load_tail(x + j, left, kLowest)) - m);
    even = even + e;
    if (y != nullptr) {
      left >= kLanes ? store(y + j, e) : store_n(y + j, e, left);
    }
  }
  return sum(even + odd);
}

float scalar_log(float x) {
  return log(set1(x))[0];
}

/// Rows up to this long keep their terms on the stack, and the output is written once.
constexpr std::int64_t kShortRow = 4096;

/// y = f(source), past the caches where that is possible: y is not read here.
template <class T, class F>
[[gnu::always_inline]] inline void write_row(const T* source, T* y, std::int64_t columns, bool past,
                                             const F& f) {
  std::int64_t j = 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (past && reinterpret_cast<std::uintptr_t>(y) % sizeof(VF) == 0) {
      for (; j + kLanes <= columns; j += kLanes) {
        stream(y + j, f(load(source + j)));
      }
    }
  }
  for (; j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    if (left >= kLanes) {
      store(y + j, f(load(source + j)));
    } else {
      store_n(y + j, f(load_n(source + j, left)), left);
    }
  }
}

template <class T>
void forward(const void* x_in, void* y_out, std::int64_t columns, bool logarithm, bool past) {
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  const float maximum = row_maximum(x, columns);
  // Terms of bf16 would be rounded twice: they are formed again instead of being stored.
  constexpr bool kStoresTerms = sizeof(T) == sizeof(float);
  alignas(64) T row[kStoresTerms ? kShortRow : 1];
  T* terms = nullptr;
  if (kStoresTerms && !logarithm) {
    terms = columns <= kShortRow ? row : y;
  }
  const float total = sum_exponentials(x, maximum, columns, terms);
  const VF shift = set1(maximum + scalar_log(total));
  const VF m = set1(maximum);
  const VF factor = set1(1.0F / total);
  if (logarithm) {
    write_row(
        x, y, columns,
        past && x != y, [&](VF v) __attribute__((always_inline)) { return v - shift; });
  } else if (terms != nullptr) {
    write_row(
        terms, y, columns,
        past && terms != y, [&](VF v) __attribute__((always_inline)) { return v * factor; });
  } else {
    write_row(
        x, y, columns,
        false, [&](VF v) __attribute__((always_inline)) { return exp(v - m) * factor; });
  }
  if (past) {
    stream_end();
  }
}

template <class T>
void backward(const void* y_in, const void* dy_in, void* dx_out, std::int64_t columns,
              bool logarithm) {
  const T* y = static_cast<const T*>(y_in);
  const T* dy = static_cast<const T*>(dy_in);
  T* dx = static_cast<T*>(dx_out);
  VF total = zero();
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    const VF g = left >= kLanes ? load(dy + j) : load_n(dy + j, left);
    const VF v = left >= kLanes ? load(y + j) : load_n(y + j, left);
    total = logarithm ? total + g : fma(g, v, total);
  }
  const VF s = set1(sum(total));
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    const VF g = left >= kLanes ? load(dy + j) : load_n(dy + j, left);
    const VF v = left >= kLanes ? load(y + j) : load_n(y + j, left);
    const VF d = logarithm ? fnma(exp(v), s, g) : (g - s) * v;
    left >= kLanes ? store(dx + j, d) : store_n(dx + j, d, left);
  }
}

/// The plain sum is formed only where label smoothing asks for it.
template <class T>
RowStatistics statistics(const void* x_in, std::int64_t columns, bool with_sum) {
  const T* x = static_cast<const T*>(x_in);
  const float maximum = row_maximum(x, columns);
  const float total = sum_exponentials<T>(x, maximum, columns, nullptr);
  VF plain = zero();
  for (std::int64_t j = 0; with_sum && j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    plain = plain + (left >= kLanes ? load(x + j) : load_n(x + j, left));
  }
  return {maximum + scalar_log(total), sum(plain)};
}

template <class T, class D>
void cross_entropy_gradient(const void* x_in, void* dx_out, std::int64_t columns,
                            const CrossEntropyRow& row) {
  const T* x = static_cast<const T*>(x_in);
  D* dx = static_cast<D*>(dx_out);
  const VF shift = set1(row.log_sum_exp);
  const VF spread = set1(row.spread);
  const VF factor = set1(row.factor);
  float at_target = 0;
  if (row.factor != 0) {
    const VF p = exp(set1(static_cast<float>(x[row.target])) - shift);
    at_target = (((p - spread) - set1(row.peak)) * factor)[0];
  }
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    const std::int64_t left = columns - j;
    const VF v = left >= kLanes ? load(x + j) : load_n(x + j, left);
    const VF d = row.factor == 0 ? zero() : (exp(v - shift) - spread) * factor;
    left >= kLanes ? store(dx + j, d) : store_n(dx + j, d, left);
  }
  if (row.factor != 0) {
    dx[row.target] = D(at_target);
  }
}

constexpr SoftmaxTable kTable{
    {forward<float>, forward<BFloat16>},
    {backward<float>, backward<BFloat16>},
    {statistics<float>, statistics<BFloat16>},
    {{cross_entropy_gradient<float, float>, cross_entropy_gradient<float, BFloat16>},
     {cross_entropy_gradient<BFloat16, float>, cross_entropy_gradient<BFloat16, BFloat16>}}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kSoftmaxAdded = IsaTable<SoftmaxTable>::add(Isa::TESSERA_ISA, &kTable);
}
