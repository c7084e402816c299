#include <cstdint>

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

/// What becomes of the values of a channel: y = (x - mean) scale + shift.
struct Line {
  float mean, scale, shift;
};
Line line_of(const BatchNormForward& n, std::int64_t c, double mean, double variance) {
  n.mean[c] = static_cast<float>(mean);
  n.variance[c] = static_cast<float>(variance);
  const auto inverse = static_cast<float>(1 / __builtin_sqrt(variance + n.epsilon));
  return {n.mean[c], n.weight == nullptr ? inverse : inverse * n.weight[c],
          n.bias == nullptr ? 0.0F : n.bias[c]};
}

/// dx = (dy - average - (x - mean) along) scale.
struct Slope {
  float average, along, scale;
};
/// What forward left, anew in doubles where that is too large for a float.
template <class T>
double variance_of(const BatchNormBackward& n, std::int64_t c) {
  if (n.variance[c] <= __FLT_MAX__) {
    return n.variance[c];
  }
  const T* x = static_cast<const T*>(n.x) + c * n.inner;
  double squares = 0;
  for (std::int64_t b = 0; b < n.batch; ++b, x += n.channels * n.inner) {
    for (std::int64_t i = 0; i < n.inner; ++i) {
      const double d = double{static_cast<float>(x[i])} - double{n.mean[c]};
      squares += d * d;
    }
  }
  return squares / static_cast<double>(n.batch * n.inner);
}

/// From the means of dy and of dy (x - mean).
template <class T>
Slope slope_of(const BatchNormBackward& n, std::int64_t c, double average, double product) {
  const double inverse = 1 / __builtin_sqrt(variance_of<T>(n, c) + n.epsilon);
  const auto values = static_cast<double>(n.batch * n.inner);
  if (n.dweight != nullptr) {
    n.dweight[c] = static_cast<float>(product * inverse * values);
  }
  if (n.dbias != nullptr) {
    n.dbias[c] = static_cast<float>(average * values);
  }
  const double scale = n.weight == nullptr ? inverse : inverse * double{n.weight[c]};
  return {static_cast<float>(average), static_cast<float>(product * inverse * inverse),
          static_cast<float>(scale)};
}

/// Calls f(at, width) for the vectors of channel c, whose values are `batch` runs of `inner`.
template <class Norm, class F>
[[gnu::always_inline]] inline void each_vector(const Norm& n, std::int64_t c, const F& f) {
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const std::int64_t at = (b * n.channels + c) * n.inner;
    each_column(
        n.inner, [&](std::int64_t j, std::int64_t w)
                     __attribute__((always_inline)) { f(at + j, w); });
  }
}

template <class T, class Y>
void forward_channel(const BatchNormForward& n, std::int64_t c) {
  const T* x = static_cast<const T*>(n.x);
  Y* y = static_cast<Y*>(n.y);
  const auto values = static_cast<double>(n.batch * n.inner);
  Sums all;
  each_vector(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        all.add(load_up_to(x + at, w));
      });
  const double average = all.total() / values;
  const VF mean = set1(static_cast<float>(average));
  Sums squares;
  each_vector(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VF d = keep(load_up_to(x + at, w) - mean, w);
        squares.add_product(d, d);
      });
  const Line line = line_of(n, c, average, squares.total() / values);
  const VF scale = set1(line.scale), shift = set1(line.shift);
  each_vector(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        store_up_to(y + at, fma(load_up_to(x + at, w) - mean, scale, shift), w);
      });
}

template <class T, class G>
void backward_channel(const BatchNormBackward& n, std::int64_t c) {
  const T* x = static_cast<const T*>(n.x);
  const G* dy = static_cast<const G*>(n.dy);
  T* dx = static_cast<T*>(n.dx);
  const auto values = static_cast<double>(n.batch * n.inner);
  const VF mean = set1(n.mean[c]);
  Sums all, products;
  each_vector(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VF g = load_up_to(dy + at, w);  // 0 beyond the run
        all.add(g);
        products.add_product(g, load_up_to(x + at, w) - mean);
      });
  const Slope s = slope_of<T>(n, c, all.total() / values, products.total() / values);
  const VF average = set1(s.average), along = set1(s.along), scale = set1(s.scale);
  each_vector(
      n, c, [&](std::int64_t at, std::int64_t w) __attribute__((always_inline)) {
        const VF g = load_up_to(dy + at, w) - average;
        store_up_to(dx + at, fnma(load_up_to(x + at, w) - mean, along, g) * scale, w);
      });
}

/// Where channels follow each other, a lane is a channel.
template <class T, class Y>
void forward_columns(const BatchNormForward& n, std::int64_t c, std::int64_t w) {
  const T* x = static_cast<const T*>(n.x) + c;
  Y* y = static_cast<Y*>(n.y) + c;
  const auto values = static_cast<double>(n.batch);
  double averages[kLanes], variances[kLanes];
  Sums all;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    all.add(load_up_to(x + b * n.channels, w));
  }
  all.means(values, averages);
  float means[kLanes], scales[kLanes] = {}, shifts[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    means[i] = static_cast<float>(averages[i]);
  }
  const VF mean = load(means);
  Sums squares;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VF d = load_up_to(x + b * n.channels, w) - mean;
    squares.add_product(d, d);
  }
  squares.means(values, variances);
  for (std::int64_t i = 0; i < w; ++i) {
    const Line line = line_of(n, c + i, averages[i], variances[i]);
    scales[i] = line.scale, shifts[i] = line.shift;
  }
  const VF scale = load(scales), shift = load(shifts);
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VF d = load_up_to(x + b * n.channels, w) - mean;
    store_up_to(y + b * n.channels, fma(d, scale, shift), w);
  }
}

template <class T, class G>
void backward_columns(const BatchNormBackward& n, std::int64_t c, std::int64_t w) {
  const T* x = static_cast<const T*>(n.x) + c;
  const G* dy = static_cast<const G*>(n.dy) + c;
  T* dx = static_cast<T*>(n.dx) + c;
  const auto values = static_cast<double>(n.batch);
  const VF mean = load_up_to(n.mean + c, w);
  Sums all, products;
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VF g = load_up_to(dy + b * n.channels, w);
    all.add(g);
    products.add_product(g, load_up_to(x + b * n.channels, w) - mean);
  }
  double averages[kLanes], means[kLanes];
  all.means(values, averages);
  products.means(values, means);
  float average[kLanes] = {}, along[kLanes] = {}, scale[kLanes] = {};
  for (std::int64_t i = 0; i < w; ++i) {
    const Slope s = slope_of<T>(n, c + i, averages[i], means[i]);
    average[i] = s.average, along[i] = s.along, scale[i] = s.scale;
  }
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const VF g = load_up_to(dy + b * n.channels, w) - load(average);
    const VF d = load_up_to(x + b * n.channels, w) - mean;
    store_up_to(dx + b * n.channels, fnma(d, load(along), g) * load(scale), w);
  }
}

template <class T, class Y>
void forward(const BatchNormForward& n, std::int64_t first, std::int64_t count) {
  if (n.inner == 1) {
    each_column(count,
                [&](std::int64_t j, std::int64_t w) { forward_columns<T, Y>(n, first + j, w); });
    return;
  }
  for (std::int64_t c = first; c < first + count; ++c) {
    forward_channel<T, Y>(n, c);
  }
}

template <class T, class G>
void backward(const BatchNormBackward& n, std::int64_t first, std::int64_t count) {
  if (n.inner == 1) {
    each_column(count,
                [&](std::int64_t j, std::int64_t w) { backward_columns<T, G>(n, first + j, w); });
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
     {backward<BFloat16, float>, backward<BFloat16, BFloat16>}}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kBatchNormAdded =
    IsaTable<BatchNormTable>::add(Isa::TESSERA_ISA, &kBatchNormTable);
}
