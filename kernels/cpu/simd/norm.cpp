#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/rows.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// sum over j of f(vector of columns j...), in kLanes running sums of two interleaved chains.
template <class F>
[[gnu::always_inline]] inline float sum_columns(std::int64_t columns, const F& f) {
  VF even = zero();
  VF odd = zero();
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    even = even + f(j, kLanes);
    odd = odd + f(j + kLanes, kLanes);
  }
  for (; j + kLanes <= columns; j += kLanes) {
    even = even + f(j, kLanes);
  }
  if (j < columns) {
    odd = odd + f(j, columns - j);
  }
  return sum(even + odd);
}

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
/// Zero beyond n, where a shift by the mean would leave -mean.
[[gnu::always_inline]] inline VF keep(VF x, std::int64_t n) {
  if (n == kLanes) {
    return x;
  }
  float lanes[kLanes];
  store(lanes, x);
  return load_n(lanes, n);
}

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

template <class T, class Y>
void forward(const NormForward& n, std::int64_t first, std::int64_t count) {
  const float size = static_cast<float>(n.columns);
  for (std::int64_t row = first; row < first + count; ++row) {
    const T* x = static_cast<const T*>(n.x) + row * n.columns;
    Y* y = static_cast<Y*>(n.y) + row * n.columns;
    float mean = 0;
    if (n.centered) {
      mean = sum_columns(
                 n.columns, [&](std::int64_t j, std::int64_t w)
                                __attribute__((always_inline)) { return load_up_to(x + j, w); }) /
             size;
    }
    const VF center = set1(mean);
    const float square = sum_columns(
        n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
          __builtin_prefetch(x + n.columns + j);  // while this row is worked on in the first cache
          const VF d = keep(load_up_to(x + j, w) - center, w);
          return d * d;
        });
    const bool past = n.past_caches && reinterpret_cast<std::uintptr_t>(y) % sizeof(VF) == 0;
    const VF root = sqrt(set1(square / size + n.epsilon));
    const VF scale = set1(1.0F) / root;
    each_column(
        n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
          VF v = (load_up_to(x + j, w) - center) * scale;
          if (n.scale != nullptr) {
            v = v * load_up_to(n.scale + j, w);
          }
          if (n.shift != nullptr) {
            v = v + load_up_to(n.shift + j, w);
          }
          write(y + j, v, w, past);
        });
    if (n.mean != nullptr) {
      n.mean[row] = mean;
    }
    if (n.inverse != nullptr) {
      n.inverse[row] = scale[0];
    }
  }
  if (n.past_caches) {
    stream_end();
  }
}

template <class T, class G>
struct BackwardRow {
  const NormBackward& n;
  const T* x;
  const G* dy;
  VF mean, inverse;

  [[gnu::always_inline]] VF normal(std::int64_t j, std::int64_t w) const {
    return (load_up_to(x + j, w) - mean) * inverse;
  }
  [[gnu::always_inline]] VF scaled(std::int64_t j, std::int64_t w) const {
    const VF g = load_up_to(dy + j, w);
    return n.scale == nullptr ? g : g * load_up_to(n.scale + j, w);
  }
};

template <class T, class G>
void input_gradient(const BackwardRow<T, G>& r, T* dx) {
  const float size = static_cast<float>(r.n.columns);
  float average = 0;
  if (r.n.centered) {
    average = sum_columns(
                  r.n.columns, [&](std::int64_t j, std::int64_t w)
                                   __attribute__((always_inline)) { return r.scaled(j, w); }) /
              size;
  }
  const float product =
      sum_columns(
          r.n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((
                           always_inline)) { return r.scaled(j, w) * r.normal(j, w); }) /
      size;
  const VF a = set1(average);
  const VF p = set1(product);
  each_column(
      r.n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
        const VF d = fnma(r.normal(j, w), p, r.scaled(j, w) - a);
        store_up_to(dx + j, d * r.inverse, w);
      });
}

template <class T, class G>
void backward(const NormBackward& n, std::int64_t first, std::int64_t count, float* dscale,
              float* dshift) {
  for (std::int64_t row = first; row < first + count; ++row) {
    const G* dy = static_cast<const G*>(n.dy) + row * n.columns;
    const BackwardRow<T, G> r{n, static_cast<const T*>(n.x) + row * n.columns, dy,
                              set1(n.centered ? n.mean[row] : 0.0F), set1(n.inverse[row])};
    if (dscale != nullptr) {
      each_column(
          n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
            const VF s = fma(load_up_to(dy + j, w), r.normal(j, w), load_up_to(dscale + j, w));
            store_up_to(dscale + j, s, w);
          });
    }
    if (dshift != nullptr) {
      each_column(
          n.columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
            store_up_to(dshift + j, load_up_to(dshift + j, w) + load_up_to(dy + j, w), w);
          });
    }
    if (n.dx != nullptr) {
      input_gradient(r, static_cast<T*>(n.dx) + row * n.columns);
    }
  }
}

template <class T>
void sum_rows(const void* x_in, std::int64_t rows, std::int64_t columns, float* sums) {
  const T* x = static_cast<const T*>(x_in);
  constexpr std::int64_t kAtOnce = 4;  // loads and stores of the sums are shared by four rows
  for (std::int64_t r = 0; r < rows; r += kAtOnce) {
    const std::int64_t now = rows - r < kAtOnce ? rows - r : kAtOnce;
    each_column(
        columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
          VF s = r == 0 ? zero() : load_up_to(sums + j, w);
          for (std::int64_t i = 0; i < now; ++i) {
            s = s + load_up_to(x + (r + i) * columns + j, w);
          }
          store_up_to(sums + j, s, w);
        });
  }
}

void add(float* into, const float* from, std::int64_t count) {
  each_column(
      count, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
        store_up_to(into + j, load_up_to(into + j, w) + load_up_to(from + j, w), w);
      });
}

constexpr NormTable kTable{{{forward<float, float>, forward<float, BFloat16>},
                            {forward<BFloat16, float>, forward<BFloat16, BFloat16>}},
                           {{backward<float, float>, backward<float, BFloat16>},
                            {backward<BFloat16, float>, backward<BFloat16, BFloat16>}},
                           {sum_rows<float>, sum_rows<BFloat16>},
                           add};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kNormAdded = IsaTable<NormTable>::add(Isa::TESSERA_ISA, &kTable);
}
