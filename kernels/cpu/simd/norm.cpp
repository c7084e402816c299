#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/rows.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// Whether floats did for a row, as doubles always do: its squares are far from where they overflow
/// or lose digits, and what rounding did to its mean is small beside its spread.
[[gnu::always_inline]] inline bool is_ordinary(double, double) {
  return true;
}
[[gnu::always_inline]] inline bool is_ordinary(float mean, float variance) {
  return variance >= 1e-30F && variance <= __FLT_MAX__ && mean * mean <= variance * 0x1p32F;
}

/// Numbers are brought to x·factor before a mean is subtracted, so that differences of the largest
/// floats are floats; by 1, which changes no bits, unless the row's spread is as large.
template <class Number>
[[gnu::always_inline]] inline Number factor_before(Number inverse) {
  return sizeof(Number) == sizeof(float) && inverse < Number(0x1p-120) ? Number(0x1p-4) : Number(1);
}
/// 1 / factor, without the time of a division at every row.
template <class Number>
[[gnu::always_inline]] inline Number factor_behind(Number factor) {
  return factor == Number(1) ? Number(1) : Number(0x1p4);
}

/// The root of one number: sooner there than a vector's, and every row waits for it.
[[gnu::always_inline]] inline float root(float x) {
  return __builtin_sqrtf(x);
}
[[gnu::always_inline]] inline double root(double x) {
  return __builtin_sqrt(x);
}

/// Rows that follow each other. One walk along the columns writes a row, measures the next one and
/// adds up the one behind, so that memory is read and written all the time.
template <class T, class Y>
class ForwardRows {
  using V = VectorOf<T>;
  using Number = NumberOf<T>;

 public:
  ForwardRows(const NormForwardOf<NumberOf<T>>& n, std::int64_t first, std::int64_t count)
      : n_(n), first_(first), end_(first + count), size_(static_cast<Number>(n.columns)) {}

  void run() {
    walk<false, false>(first_ - 2);
    walk<false, false>(first_ - 1);
    const bool is_affine = n_.scale != nullptr && n_.shift != nullptr;
    for (std::int64_t row = first_; row < end_; ++row) {
      is_affine ? walk<true, true>(row) : walk<true, false>(row);
    }
    if (n_.past_caches) {
      stream_end();
    }
  }

 private:
  /// Before the first row and behind the last one a neighbour is read, and nothing made of it.
  [[nodiscard]] const T* near(std::int64_t row) const {
    row = row < first_ ? first_ : row < end_ ? row : end_ - 1;
    return static_cast<const T*>(n_.x) + row * n_.columns;
  }

  /// kAffine: there are a scale and a shift, for which nothing is asked at every vector then.
  template <bool kWrites, bool kAffine>
  void walk(std::int64_t row) {
    const T* x = near(row);
    const T* measured = near(row + 1);
    const T* added = near(row + 2);
    Y* y = kWrites ? static_cast<Y*>(n_.y) + row * n_.columns : nullptr;
    const bool past = n_.past_caches && is_aligned(y);
    V totals[2] = {V{}, V{}}, squares[2] = {V{}, V{}};
    each_column_in_turns<kLanesOf<T>>(
        n_.columns, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          fetch_ahead(added + j);
          totals[chain] = totals[chain] + load_up_to(added + j, w);
          const V d = keep(load_up_to(measured + j, w) - next_center_, w);
          squares[chain] = fma(d, d, squares[chain]);
          if (kWrites) {
            write(y + j, result<kAffine>(x, j, w), w, past);
          }
        });
    advance(row + 1, sum(squares[0] + squares[1]));
    next_center_ = set1(n_.centered ? sum(totals[0] + totals[1]) / size_ : Number(0));
  }

  /// Row `row` with this sum of squares is written next.
  void advance(std::int64_t row, Number squares) {
    const Number variance = squares / size_ + n_.epsilon;
    Number mean = next_center_[0], inverse = 1 / root(variance);
    Number factor = 1, behind = inverse;
    const bool is_own = row >= first_ && row < end_;
    if (is_own && !is_ordinary(mean, variance)) {  // which alone may have a factor
      measure_in_doubles(row, mean, inverse);
      factor = factor_before(inverse);
      behind = inverse * factor_behind(factor);
    }
    if (is_own && n_.mean != nullptr) {
      n_.mean[row] = mean;
    }
    if (is_own && n_.inverse != nullptr) {
      n_.inverse[row] = inverse;
    }
    factor_ = set1(factor);
    shift_ = set1(-mean * factor);
    inverse_ = set1(behind);
  }

  void measure_in_doubles(std::int64_t row, Number& mean_out, Number& inverse_out) const {
    const T* x = near(row);
    const auto size = static_cast<double>(n_.columns);
    double total = 0, squares = 0;
    for (std::int64_t j = 0; j < n_.columns; ++j) {
      total += static_cast<Number>(x[j]);
    }
    const double mean = n_.centered ? total / size : 0;
    for (std::int64_t j = 0; j < n_.columns; ++j) {
      const double d = static_cast<Number>(x[j]) - mean;
      squares += d * d;
    }
    mean_out = static_cast<Number>(mean);
    inverse_out = static_cast<Number>(1 / __builtin_sqrt(squares / size + double{n_.epsilon}));
  }

  template <bool kAffine>
  [[gnu::always_inline]] V result(const T* x, std::int64_t j, std::int64_t w) const {
    V v = fma(load_up_to(x + j, w), factor_, shift_) * inverse_;
    if (kAffine || n_.scale != nullptr) {
      v = v * load_up_to(n_.scale + j, w);
    }
    return !kAffine && n_.shift == nullptr ? v : v + load_up_to(n_.shift + j, w);
  }

  NormForwardOf<Number> n_;  // a copy: behind a reference, it is read again after every store
  std::int64_t first_, end_;
  Number size_;
  V factor_ = V{}, shift_ = V{}, inverse_ = V{};  ///< of the row that is written next
  V next_center_ = V{};
};

template <class T, class Y>
void forward(const NormForwardOf<NumberOf<T>>& n, std::int64_t first, std::int64_t count) {
  ForwardRows<T, Y>(n, first, count).run();
}

/// Gradients of rows: while a row is added up, the row before is written.
template <class T, class G>
class BackwardRows {
  using V = VectorOf<T>;
  using Number = NumberOf<T>;

 public:
  BackwardRows(const NormBackwardOf<NumberOf<T>>& n, Number* dscale, Number* dshift)
      : n_(n), size_(static_cast<Number>(n.columns)), dscale_(dscale), dshift_(dshift) {}

  void run(std::int64_t first, std::int64_t count) {
    const bool is_affine = n_.scale != nullptr && dscale_ != nullptr && dshift_ != nullptr;
    for (std::int64_t row = first; row < first + count; ++row) {
      if (row == first || n_.dx == nullptr) {
        add_row<false, false>(row);
      } else {
        is_affine ? add_row<true, true>(row) : add_row<true, false>(row);
      }
    }
    if (n_.dx != nullptr && count > 0) {
      const std::int64_t last = first + count - 1;
      each_column<kLanesOf<T>>(
          n_.columns, [&](std::int64_t j, std::int64_t w)
                          __attribute__((always_inline)) { write_at<false>(last, j, w); });
    }
    if (n_.past_caches) {
      stream_end();
    }
  }

 private:
  /// A row's statistics and the means that its gradient is freed of.
  struct Row {
    V factor, shift, inverse;  ///< as in ForwardRows
    V average, product, scale;
  };

  [[gnu::always_inline]] V normal_at(const Row& r, std::int64_t at, std::int64_t w) const {
    return fma(load_up_to(static_cast<const T*>(n_.x) + at, w), r.factor, r.shift) * r.inverse;
  }
  [[gnu::always_inline]] V gradient_at(std::int64_t at, std::int64_t w) const {
    return load_up_to(static_cast<const G*>(n_.dy) + at, w);
  }
  template <bool kAffine>
  [[gnu::always_inline]] V weighted(V g, std::int64_t j, std::int64_t w) const {
    return !kAffine && n_.scale == nullptr ? g : g * load_up_to(n_.scale + j, w);
  }

  template <bool kAffine>
  [[gnu::always_inline]] void write_at(std::int64_t row, std::int64_t j, std::int64_t w) const {
    T* dx = static_cast<T*>(n_.dx) + row * n_.columns;
    const std::int64_t at = row * n_.columns + j;
    const V g = weighted<kAffine>(gradient_at(at, w), j, w);
    const V d = fnma(normal_at(before_, at, w), before_.product, g - before_.average);
    write(dx + j, d * before_.scale, w, n_.past_caches && is_aligned(dx));
  }
  template <bool kAffine>
  [[gnu::always_inline]] void add_to_parameters(V g, V normal, std::int64_t j,
                                                std::int64_t w) const {
    if (kAffine || dscale_ != nullptr) {
      store_up_to(dscale_ + j, fma(g, normal, load_up_to(dscale_ + j, w)), w);
    }
    if (kAffine || dshift_ != nullptr) {
      store_up_to(dshift_ + j, load_up_to(dshift_ + j, w) + g, w);
    }
  }

  /// kAffine: there are a scale, and gradients of scale and shift, for which nothing is asked at
  /// every vector then.
  template <bool kWritesBefore, bool kAffine>
  void add_row(std::int64_t row) {
    Row r;
    const Number factor = factor_before(n_.inverse[row]);
    r.factor = set1(factor);
    r.shift = set1(n_.centered ? -n_.mean[row] * factor : Number(-0.0));
    r.inverse = set1(n_.inverse[row] * factor_behind(factor));
    r.scale = set1(n_.inverse[row]);
    V averages[2] = {V{}, V{}}, products[2] = {V{}, V{}};
    each_column_in_turns<kLanesOf<T>>(
        n_.columns, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          const std::int64_t at = row * n_.columns + j;
          fetch_ahead(static_cast<const G*>(n_.dy) + at);
          fetch_ahead(static_cast<const T*>(n_.x) + at);
          const V g = gradient_at(at, w);
          const V normal = keep(normal_at(r, at, w), w);  // 0 times 0 - mean may be nan
          add_to_parameters<kAffine>(g, normal, j, w);
          const V weight = weighted<kAffine>(g, j, w);
          averages[chain] = averages[chain] + weight;
          products[chain] = fma(weight, normal, products[chain]);
          if (kWritesBefore) {
            write_at<kAffine>(row - 1, j, w);
          }
        });
    r.average = set1(n_.centered ? sum(averages[0] + averages[1]) / size_ : Number(0));
    r.product = set1(sum(products[0] + products[1]) / size_);
    before_ = r;
  }

  NormBackwardOf<Number> n_;  // a copy, as above
  Number size_;
  Number *dscale_, *dshift_;
  Row before_;
};

template <class T, class G>
void backward(const NormBackwardOf<NumberOf<T>>& n, std::int64_t first, std::int64_t count,
              NumberOf<T>* dscale, NumberOf<T>* dshift) {
  BackwardRows<T, G>(n, dscale, dshift).run(first, count);
}

template <class T>
void sum_rows(const void* x_in, std::int64_t rows, std::int64_t columns, NumberOf<T>* sums) {
  const T* x = static_cast<const T*>(x_in);
  constexpr std::int64_t kAtOnce = 4;  // loads and stores of the sums are shared by four rows
  for (std::int64_t r = 0; r == 0 || r < rows; r += kAtOnce) {  // no rows: sums of 0
    const std::int64_t now = rows - r < kAtOnce ? rows - r : kAtOnce;
    each_column<kLanesOf<T>>(
        columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
          VectorOf<T> s = r == 0 ? VectorOf<T>{} : load_up_to(sums + j, w);
          for (std::int64_t i = 0; i < now; ++i) {
            s = s + load_up_to(x + (r + i) * columns + j, w);
          }
          store_up_to(sums + j, s, w);
        });
  }
}

template <class T>
NumberOf<T> sum_block(const void* x_in, std::int64_t count) {
  const T* x = static_cast<const T*>(x_in);
  VectorOf<T> sums[2] = {VectorOf<T>{}, VectorOf<T>{}};
  each_column_in_turns<kLanesOf<T>>(
      count, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
        sums[chain] = sums[chain] + load_up_to(x + j, w);
      });
  return sum(sums[0] + sums[1]);
}

template <class Number>
void add(Number* into, const Number* from, std::int64_t count) {
  each_column<kLanesOf<Number>>(
      count, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
        store_up_to(into + j, load_up_to(into + j, w) + load_up_to(from + j, w), w);
      });
}

constexpr NormTable kNormTable{{{forward<float, float>, forward<float, BFloat16>},
                                {forward<BFloat16, float>, forward<BFloat16, BFloat16>}},
                               {{backward<float, float>, backward<float, BFloat16>},
                                {backward<BFloat16, float>, backward<BFloat16, BFloat16>}},
                               {sum_rows<float>, sum_rows<BFloat16>},
                               {sum_block<float>, sum_block<BFloat16>},
                               add<float>,
                               {forward<double, double>, backward<double, double>, sum_rows<double>,
                                sum_block<double>, add<double>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kNormAdded = IsaTable<NormTable>::add(Isa::TESSERA_ISA, &kNormTable);
}
