#include <tessera/kernels/cpu/simd/comparison.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>

// Plain loops: bytes from comparisons of floats are what compilers make good vectors of.
namespace tessera::cpu::TESSERA_ISA {
namespace {

struct Equal {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a == b; }
};
struct NotEqual {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a != b; }
};
struct Less {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a < b; }
};
struct LessOrEqual {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a <= b; }
};
struct Greater {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a > b; }
};
struct GreaterOrEqual {
  [[gnu::always_inline]] static bool of(auto a, auto b) { return a >= b; }
};

template <class T, class F>
void arrays(const void* a_in, const void* b_in, bool* y, std::int64_t count) {
  const T* a = static_cast<const T*>(a_in);
  const T* b = static_cast<const T*>(b_in);
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = F::of(static_cast<NumberOf<T>>(a[i]), static_cast<NumberOf<T>>(b[i]));
  }
}

template <class T, class F>
void number(const void* a_in, double number, bool* y, std::int64_t count) {
  const auto b = static_cast<NumberOf<T>>(number);
  const T* a = static_cast<const T*>(a_in);
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = F::of(static_cast<NumberOf<T>>(a[i]), b);
  }
}

template <class Bits, bool kOneA, bool kOneB>
void choose(const bool* condition, const void* a_in, const void* b_in, void* y_out,
            std::int64_t count) {
  const Bits* a = static_cast<const Bits*>(a_in);
  const Bits* b = static_cast<const Bits*>(b_in);
  Bits* y = static_cast<Bits*>(y_out);
  for (std::int64_t i = 0; i < count; ++i) {
    const Bits yes = a[kOneA ? 0 : i];
    const Bits no = b[kOneB ? 0 : i];
    y[i] = condition[i] ? yes : no;
  }
}

template <class T, class... F>
constexpr void fill(ComparisonTable& t, int dtype) {
  int i = 0;
  ((t.arrays[dtype][i] = arrays<T, F>, t.number[dtype][i] = number<T, F>, ++i), ...);
}

template <class Bits>
constexpr void fill_choices(ComparisonTable& t, int size) {
  t.choose[size][0][0] = choose<Bits, false, false>;
  t.choose[size][0][1] = choose<Bits, false, true>;
  t.choose[size][1][0] = choose<Bits, true, false>;
  t.choose[size][1][1] = choose<Bits, true, true>;
}

constexpr ComparisonTable make_comparisons() {
  ComparisonTable t{};
  fill<float, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual>(t, 0);
  fill<BFloat16, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual>(t, 1);
  fill<double, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual>(t, 2);
  fill_choices<std::uint32_t>(t, 0);
  fill_choices<std::uint16_t>(t, 1);
  fill_choices<std::uint64_t>(t, 2);
  return t;
}

constexpr ComparisonTable kComparisonTable = make_comparisons();

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kComparisonAdded =
    IsaTable<ComparisonTable>::add(Isa::TESSERA_ISA, &kComparisonTable);
}
