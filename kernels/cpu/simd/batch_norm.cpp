#include <cstdint>
#include <type_traits>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/batch_norm.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// One sum a lane, in doubles.
struct Sums {
  VD low, high;

  [[gnu::always_inline]] Sums() : low(zero_double()), high(zero_double()) {}
  [[gnu::always_inline]] void add(VF a) {
    low = low + low_double(a);
    high = high + high_double(a);
  }
  [[gnu::always_inline]] void add_product(VF a, VF b) {
    low = fma(low_double(a), low_double(b), low);
    high = fma(high_double(a), high_double(b), high);
  }
  [[gnu::always_inline]] double total() const { return sum(low) + sum(high); }
  /// The mean of each lane over `values`.
  [[gnu::always_inline]] void means(double values, double* out) const {
    __builtin_memcpy(out, &low, sizeof low);
    __builtin_memcpy(out + kLanes / 2, &high, sizeof high);
    for (int i = 0; i < kLanes; ++i) {
      out[i] /= values;
    }
  }
};

/// Sums of lanes of doubles.
struct SumsF64 {
  VD all;

  [[gnu::always_inline]] SumsF64() : all(zero_double()) {}
  [[gnu::always_inline]] void add(VD a) { all = all + a; }
  [[gnu::always_inline]] void add_product(VD a, VD b) { all = fma(a, b, all); }
  [[gnu::always_inline]] double total() const { return sum(all); }
  [[gnu::always_inline]] void means(double values, double* out) const {
    store(out, all / set1(values));
  }
};
template <class T>
using SumsOf = std::conditional_t<sizeof(NumberOf<T>) == sizeof(double), SumsF64, Sums>;

/// What becomes of the values of a channel: y = (x - mean) scale + shift.
template <class Number>
struct Line {
  Number mean, scale, shift;
};
template <class Number>
Line<Number> line_of(const BatchNormForwardOf<Number>& n, std::int64_t c, double mean,
                     double variance) {
  n.mean[c] = static_cast<Number>(mean);
  n.variance[c] = static_cast<Number>(variance);
  const auto inverse = static_cast<Number>(1 / __builtin_sqrt(variance + n.epsilon));
  return {n.mean[c], n.weight == nullptr ? inverse : inverse * n.weight[c],
          n.bias == nullptr ? Number(0) : n.bias[c]};
}

/// dx = (dy - average - (x - mean) along) scale.
template <class Number>
struct Slope {
  Number average, along, scale;
};
/// What forward left, anew in doubles where that is too large for a NumberOf<T>.
template <class T>
double variance_of(const BatchNormBackwardOf<NumberOf<T>>& n, std::int64_t c) {
  if (n.variance[c] <= -kLowest<T>) {
    return n.variance[c];
  }
  const T* x = static_cast<const T*>(n.x) + c * n.inner;
  double squares = 0;
  for (std::int64_t b = 0; b < n.batch; ++b, x += n.channels * n.inner) {
    for (std::int64_t i = 0; i < n.inner; ++i) {
      const double d = double{static_cast<NumberOf<T>>(x[i])} - double{n.mean[c]};
      squares += d * d;
    }
  }
  return squares / static_cast<double>(n.batch * n.inner);
}

/// Gradients from the means of dy and of dy (x - mean).
template <class T>
Slope<NumberOf<T>> slope_of(const BatchNormBackwardOf<NumberOf<T>>& n, std::int64_t c,
                            double average, double product) {
  const double inverse = 1 / __builtin_sqrt(variance_of<T>(n, c) + n.epsilon);
  const auto values = static_cast<double>(n.batch * n.inner);
  if (n.dweight != nullptr) {
    n.dweight[c] = static_cast<NumberOf<T>>(product * inverse * values);
  }
  if (n.dbias != nullptr) {
    n.dbias[c] = static_cast<NumberOf<T>>(average * values);
  }
  const double scale = n.weight == nullptr ? inverse : inverse * double{n.weight[c]};
  return {static_cast<NumberOf<T>>(average), static_cast<NumberOf<T>>(product * inverse * inverse),
          static_cast<NumberOf<T>>(scale)};
}

/// Calls f(at, width) for the vectors, of kStep, of channel c, whose values are `batch` runs of
/// `inner`.
template <int kStep, class Norm, class F>
[[gnu::always_inline]] inline void each_vector(const Norm& n, std::int64_t c, const F& f) {
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const std::int64_t at = (b * n.channels + c) * n.inner;
    each_column<kStep>(
        n.inner, [&](std::int64_t j, std::int64_t w)
                     __attribute__((always_inline)) { f(at + j, w); });
  }
}

template <class T, class Y>
void forward_channel(const BatchNormForwardOf<NumberOf<T>>& n, std::int64_t c) {
  const T* x = static_cast<const T*>(n.x);
  Y* y = static_cast<Y*>(n.y);
  const auto values = static_cast<double>(n.batch * n.inner);
  SumsOf<T> all;
  each_vector<kLanesOf<T>>(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        all.add(load_up_to(x + at, w));
      });
  const double average = all.total() / values;
  const VectorOf<T> mean = set1(static_cast<NumberOf<T>>(average));
  SumsOf<T> squares;
  each_vector<kLanesOf<T>>(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VectorOf<T> d = keep(load_up_to(x + at, w) - mean, w);
        squares.add_product(d, d);
      });
  const Line<NumberOf<T>> line = line_of(n, c, average, squares.total() / values);
  const VectorOf<T> scale = set1(line.scale), shift = set1(line.shift);
  each_vector<kLanesOf<T>>(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        store_up_to(y + at, fma(load_up_to(x + at, w) - mean, scale, shift), w);
      });
}

template <class T, class G>
void backward_channel(const BatchNormBackwardOf<NumberOf<T>>& n, std::int64_t c) {
  const T* x = static_cast<const T*>(n.x);
  const G* dy = static_cast<const G*>(n.dy);
  T* dx = static_cast<T*>(n.dx);
  const auto values = static_cast<double>(n.batch * n.inner);
  const VectorOf<T> mean = set1(n.mean[c]);
  SumsOf<T> all, products;
  each_vector<kLanesOf<T>>(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VectorOf<T> g = load_up_to(dy + at, w);  // 0 beyond the run
        all.add(g);
        products.add_product(g, load_up_to(x + at, w) - mean);
      });
  const Slope<NumberOf<T>> s = slope_of<T>(n, c, all.total() / values, products.total() / values);
  const VectorOf<T> average = set1(s.average), along = set1(s.along), scale = set1(s.scale);
  each_vector<kLanesOf<T>>(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VectorOf<T> g = load_up_to(dy + at, w) - average;
        store_up_to(dx + at, fnma(load_up_to(x + at, w) - mean, along, g) * scale, w);
      });
}

/// Where channels follow each other, a lane is a channel.
template <class T, class Y>
void forward_columns(const BatchNormForwardOf<NumberOf<T>>& n, std::int64_t c, std::int64_t w) {
  const T* x = static_cast<const T*>(n.x) + c;
  Y* y = static_cast<Y*>(n.y) + c;
  const auto values = static_cast<double>(n.batch);
  double averages[kLanesOf<T>], variances[kLanesOf<T>];
  SumsOf<T> all;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    all.add(load_up_to(x + b * n.channels, w));
  }
  all.means(values, averages);
  NumberOf<T> means[kLanesOf<T>], scales[kLanesOf<T>] = {}, shifts[kLanesOf<T>] = {};
  for (int i = 0; i < kLanesOf<T>; ++i) {
    means[i] = static_cast<NumberOf<T>>(averages[i]);
  }
  const VectorOf<T> mean = load(means);
  SumsOf<T> squares;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VectorOf<T> d = load_up_to(x + b * n.channels, w) - mean;
    squares.add_product(d, d);
  }
  squares.means(values, variances);
  for (std::int64_t i = 0; i < w; ++i) {
    const Line<NumberOf<T>> line = line_of(n, c + i, averages[i], variances[i]);
    scales[i] = line.scale, shifts[i] = line.shift;
  }
  const VectorOf<T> scale = load(scales), shift = load(shifts);
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VectorOf<T> d = load_up_to(x + b * n.channels, w) - mean;
    store_up_to(y + b * n.channels, fma(d, scale, shift), w);
  }
}

template <class T, class G>
void backward_columns(const BatchNormBackwardOf<NumberOf<T>>& n, std::int64_t c, std::int64_t w) {
  const T* x = static_cast<const T*>(n.x) + c;
  const G* dy = static_cast<const G*>(n.dy) + c;
  T* dx = static_cast<T*>(n.dx) + c;
  const auto values = static_cast<double>(n.batch);
  const VectorOf<T> mean = load_up_to(n.mean + c, w);
  SumsOf<T> all, products;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VectorOf<T> g = load_up_to(dy + b * n.channels, w);
    all.add(g);
    products.add_product(g, load_up_to(x + b * n.channels, w) - mean);
  }
  double averages[kLanesOf<T>], means[kLanesOf<T>];
  all.means(values, averages);
  products.means(values, means);
  NumberOf<T> average[kLanesOf<T>] = {}, along[kLanesOf<T>] = {}, scale[kLanesOf<T>] = {};
  for (std::int64_t i = 0; i < w; ++i) {
    const Slope<NumberOf<T>> s = slope_of<T>(n, c + i, averages[i], means[i]);
    average[i] = s.average, along[i] = s.along, scale[i] = s.scale;
  }
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VectorOf<T> g = load_up_to(dy + b * n.channels, w) - load(average);
    const VectorOf<T> d = load_up_to(x + b * n.channels, w) - mean;
    store_up_to(dx + b * n.channels, fnma(d, load(along), g) * load(scale), w);
  }
}

template <class T, class Y>
void forward(const BatchNormForwardOf<NumberOf<T>>& n, std::int64_t first, std::int64_t count) {
  if (n.inner == 1) {
    each_column<kLanesOf<T>>(
        count, [&](std::int64_t j, std::int64_t w) { forward_columns<T, Y>(n, first + j, w); });
    return;
  }
  for (std::int64_t c = first; c < first + count; ++c) {
    forward_channel<T, Y>(n, c);
  }
}

template <class T, class G>
void backward(const BatchNormBackwardOf<NumberOf<T>>& n, std::int64_t first, std::int64_t count) {
  if (n.inner == 1) {
    each_column<kLanesOf<T>>(
        count, [&](std::int64_t j, std::int64_t w) { backward_columns<T, G>(n, first + j, w); });
    return;
  }
  for (std::int64_t c = first; c < first + count; ++c) {
    backward_channel<T, G>(n, c);
  }
}

constexpr BatchNormTable kBatchNormTable{
    {{forward<float, float>, forward<float, BFloat16>},
     {forward<BFloat16, float>, forward<BFloat16, BFloat16>}},
    {{backward<float, float>, backward<float, BFloat16>},
     {backward<BFloat16, float>, backward<BFloat16, BFloat16>}},
    forward<double, double>,
    backward<double, double>};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kBatchNormAdded =
    IsaTable<BatchNormTable>::add(Isa::TESSERA_ISA, &kBatchNormTable);
}
