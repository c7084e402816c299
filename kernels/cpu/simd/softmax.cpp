#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/rows.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/online_sum.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// Terms of one row of up to so many columns fit the first cache with the row.
template <class T>
constexpr std::int64_t kShortRow = 16384 / sizeof(NumberOf<T>);

/// What a row's values become: e^(x - top) / total, or (x - top) - log total. In this order the
/// logarithm keeps its digits where the values are large.
template <class T, bool kLogarithm>
struct RowScale {
  VectorOf<T> top, by_total;  ///< 1 / total, or log total

  RowScale() = default;
  [[gnu::always_inline]] RowScale(NumberOf<T> top_in, NumberOf<T> total)
      : top(set1(top_in)), by_total(set1(kLogarithm ? scalar_log(total) : 1 / total)) {}
};

/// Rows of up to kShortRow<T> columns. One walk along the columns writes a row, forms the
/// exponentials of the next one and looks for the largest of the second one behind that, so that
/// memory never waits for arithmetic, nor a row's first exponential for its largest value.
template <class T, bool kLogarithm>
class ShortRows {
  using V = VectorOf<T>;
  using Number = NumberOf<T>;

 public:
  ShortRows(const T* x, T* y, std::int64_t rows, std::int64_t columns, bool past)
      : x_(x), y_(y), rows_(rows), columns_(columns), past_(past) {}

  void run() {
    next_top_ = largest_of(near(0), columns_);
    top_behind_ = largest_of(near(1), columns_);
    walk<false>(-1);
    for (std::int64_t row = 0; row < rows_; ++row) {
      walk<true>(row);
    }
  }

 private:
  /// Behind the last row that row is read again, and nothing made of it.
  [[nodiscard]] const T* near(std::int64_t row) const {
    return x_ + (row < rows_ ? row : rows_ - 1) * columns_;
  }

  [[gnu::always_inline]] V result(std::int64_t row, std::int64_t j, std::int64_t w) const {
    if (kLogarithm) {
      return (load_up_to(x_ + row * columns_ + j, w) - scale_.top) - scale_.by_total;
    }
    return load(terms_ + j) * scale_.by_total;
  }

  template <bool kWrites>
  void walk(std::int64_t row) {
    const T* x = near(row + 1);
    const T* behind = near(row + 3);
    T* y = kWrites ? y_ + row * columns_ : nullptr;
    const bool past = past_ && is_aligned(y);
    const V shift = set1(next_top_);
    V sums[2] = {V{}, V{}}, tops[2] = {set1(kLowest<T>), set1(kLowest<T>)};
    each_column_in_turns<kLanesOf<T>>(
        columns_, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          fetch_ahead(behind + j);
          tops[chain] = max(load_filled(behind + j, w, kNoTerm), tops[chain]);
          const V e = exp_of_difference(load_filled(x + j, w, kNoTerm) - shift);
          sums[chain] = sums[chain] + e;
          if (kWrites) {
            write(y + j, result(row, j, w), w, past);
          }
          if (!kLogarithm) {
            store(terms_ + j, e);
          }
        });
    scale_ = RowScale<T, kLogarithm>(next_top_, sum(sums[0] + sums[1]));
    next_top_ = top_behind_;
    top_behind_ = largest(max(tops[0], tops[1]));
  }

  const T* x_;
  T* y_;
  std::int64_t rows_, columns_;
  bool past_;
  Number next_top_ = 0, top_behind_ = 0;
  RowScale<T, kLogarithm> scale_;
  alignas(64) Number terms_[kShortRow<T>];
};

/// Rows of any length: terms are formed twice, so that the output is only written.
template <class T, bool kLogarithm>
void long_row(const T* x, T* y, std::int64_t columns, bool past_caches) {
  const bool past = past_caches && is_aligned(y);
  const OnlineSum<T> online(x, columns);
  const RowScale<T, kLogarithm> scale(online.top(), online.total());
  each_column<kLanesOf<T>>(
      columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
        const auto v = load_up_to(x + j, w) - scale.top;
        write(y + j, kLogarithm ? v - scale.by_total : exp_of_difference(v) * scale.by_total, w,
              past);
      });
}

template <class T, bool kLogarithm>
void forward_rows(const T* x, T* y, std::int64_t rows, std::int64_t columns, bool past) {
  if (columns <= kShortRow<T>) {
    ShortRows<T, kLogarithm>(x, y, rows, columns, past).run();
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      long_row<T, kLogarithm>(x + r * columns, y + r * columns, columns, past);
    }
  }
  if (past) {
    stream_end();
  }
}

template <class T>
void forward(const void* x, void* y, std::int64_t rows, std::int64_t columns, bool logarithm,
             bool past) {
  const auto run = logarithm ? forward_rows<T, true> : forward_rows<T, false>;
  run(static_cast<const T*>(x), static_cast<T*>(y), rows, columns, past);
}

/// While the row's sum is formed, the row before is written.
template <class T, bool kLogarithm>
class SoftmaxGradientRows {
  using V = VectorOf<T>;

 public:
  SoftmaxGradientRows(const T* y, const T* dy, T* dx, std::int64_t columns, bool past)
      : y_(y), dy_(dy), dx_(dx), columns_(columns), past_(past) {}

  void run(std::int64_t rows) {
    add_row<false>(0);
    for (std::int64_t row = 1; row < rows; ++row) {
      add_row<true>(row);
    }
    each_column<kLanesOf<T>>(
        columns_, [&](std::int64_t j, std::int64_t w)
                      __attribute__((always_inline)) { write_at(rows - 1, j, w); });
  }

 private:
  [[gnu::always_inline]] void write_at(std::int64_t row, std::int64_t j, std::int64_t w) const {
    T* dx = dx_ + row * columns_;
    const V g = load_up_to(dy_ + row * columns_ + j, w);
    const V v = load_up_to(y_ + row * columns_ + j, w);
    write(dx + j, kLogarithm ? fnma(exp_of_difference(v), sum_before_, g) : (g - sum_before_) * v,
          w, past_ && is_aligned(dx));
  }

  template <bool kWritesBefore>
  void add_row(std::int64_t row) {
    const T* dy = dy_ + row * columns_;
    const T* y = y_ + row * columns_;
    V sums[2] = {V{}, V{}};
    each_column_in_turns<kLanesOf<T>>(
        columns_, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          fetch_far_ahead(dy + j);
          fetch_far_ahead(y + j);
          const V g = load_up_to(dy + j, w);
          sums[chain] = kLogarithm ? sums[chain] + g : fma(g, load_up_to(y + j, w), sums[chain]);
          if (kWritesBefore) {
            write_at(row - 1, j, w);
          }
        });
    sum_before_ = set1(sum(sums[0] + sums[1]));
  }

  const T *y_, *dy_;
  T* dx_;
  std::int64_t columns_;
  bool past_;
  V sum_before_ = V{};
};

template <class T>
void backward(const void* y_in, const void* dy_in, void* dx_out, std::int64_t rows,
              std::int64_t columns, bool logarithm, bool past) {
  const T* y = static_cast<const T*>(y_in);
  const T* dy = static_cast<const T*>(dy_in);
  T* dx = static_cast<T*>(dx_out);
  if (logarithm) {
    SoftmaxGradientRows<T, true>(y, dy, dx, columns, past).run(rows);
  } else {
    SoftmaxGradientRows<T, false>(y, dy, dx, columns, past).run(rows);
  }
  if (past) {
    stream_end();
  }
}

constexpr SoftmaxTable kSoftmaxTable{{forward<float>, forward<BFloat16>, forward<double>},
                                     {backward<float>, backward<BFloat16>, backward<double>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kSoftmaxAdded =
    IsaTable<SoftmaxTable>::add(Isa::TESSERA_ISA, &kSoftmaxTable);
}
