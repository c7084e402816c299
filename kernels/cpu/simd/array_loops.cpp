#include <tessera/core/tensor/array_loops.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

struct Sum {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {  // unsigned: overflow wraps
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

struct Min {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return (b < a || b != b) && a == a ? b : a;
  }
};

struct Max {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return (b > a || b != b) && a == a ? b : a;
  }
};

/// Calls f(i) for i in [0, count), for several at once: no element waits for another one.
template <class F>
[[gnu::always_inline]] inline void each(std::size_t count, F&& f) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < count; ++i) {
    f(i);
  }
}

template <class Op, class T>
void two(void* out, std::size_t count, const void* a, const void* b, const void* /*c*/) {
  auto* y = static_cast<T*>(out);
  const auto *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  each(
      count, [=](std::size_t i) __attribute__((always_inline)) { y[i] = Op::apply(p[i], q[i]); });
}

template <class Op, class T, bool kLeft>
void three(void* out, std::size_t count, const void* a, const void* b, const void* c) {
  auto* y = static_cast<T*>(out);
  const auto *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  const auto* r = static_cast<const T*>(c);
  each(
      count, [=](std::size_t i) __attribute__((always_inline)) {
        const T both = Op::apply(p[i], q[i]);
        y[i] = kLeft ? Op::apply(r[i], both) : Op::apply(both, r[i]);
      });
}

template <class From, class To>
void convert(const void* from, void* to, std::size_t count) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
  each(
      count, [=](std::size_t i)
                 __attribute__((always_inline)) { y[i] = To(static_cast<float>(x[i])); });
}

void copy_past_caches(const std::byte* from, std::byte* to, std::size_t nbytes) {
  constexpr std::size_t kStep = sizeof(VF);
  const std::size_t before = (kStep - reinterpret_cast<std::uintptr_t>(to) % kStep) % kStep;
  std::size_t at = before < nbytes ? before : nbytes;
  std::memcpy(to, from, at);
  for (; at + kStep <= nbytes; at += kStep) {
    stream(reinterpret_cast<float*>(to + at), load(reinterpret_cast<const float*>(from + at)));
  }
  std::memcpy(to + at, from + at, nbytes - at);
  stream_end();
}

template <class Op, class T>
constexpr ArrayLoops::Forms kForms{two<Op, T>, three<Op, T, false>, three<Op, T, true>};

template <class T>
constexpr void add_type(ArrayLoops& loops, DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  loops.combine[static_cast<std::size_t>(ReduceOp::sum)][at] = kForms<Sum, T>;
  loops.combine[static_cast<std::size_t>(ReduceOp::min)][at] = kForms<Min, T>;
  loops.combine[static_cast<std::size_t>(ReduceOp::max)][at] = kForms<Max, T>;
}

template <class Half>
constexpr void add_half(ArrayLoops& loops, DType dtype) {
  loops.to_f32[static_cast<std::size_t>(dtype)] = convert<Half, float>;
  loops.from_f32[static_cast<std::size_t>(dtype)] = convert<float, Half>;
}

constexpr ArrayLoops all_loops() {
  ArrayLoops loops;
  add_type<std::uint8_t>(loops, DType::u8);
  add_type<std::int8_t>(loops, DType::i8);
  add_type<std::int16_t>(loops, DType::i16);
  add_type<std::int32_t>(loops, DType::i32);
  add_type<std::int64_t>(loops, DType::i64);
  add_type<float>(loops, DType::f32);
  add_type<double>(loops, DType::f64);
  add_half<Float16>(loops, DType::f16);
  add_half<BFloat16>(loops, DType::bf16);
  loops.copy_past_caches = copy_past_caches;
  return loops;
}

constexpr ArrayLoops kArrayLoops = all_loops();

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kArrayLoopsAdded =
    IsaTable<ArrayLoops>::add(Isa::TESSERA_ISA, &kArrayLoops);
}
