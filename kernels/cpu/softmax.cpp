#include <tessera/kernels/cpu/softmax.h>

#include <type_traits>

#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {
namespace {

template <class P>
P* row_of(P* data, std::int64_t row, std::int64_t stride, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<P>, const char, char>;
  return static_cast<Byte*>(data) + row * stride * static_cast<std::int64_t>(size_of(dtype));
}

template <class Number>
Number value_at(const void* row, std::int64_t column, DType dtype) {
  return dtype == DType::bf16
             ? Number(static_cast<float>(static_cast<const BFloat16*>(row)[column]))
             : static_cast<const Number*>(row)[column];
}

/// Whether a result as large as this, which does not lie on what it is made of, goes past the
/// caches.
bool goes_past(const void* to, const void* from, std::int64_t count, DType dtype) {
  return to != from && outlives_caches(count * static_cast<std::int64_t>(size_of(dtype)));
}

/// lse(x) - (1 - smoothing) x[target] - smoothing mean(x), small differences first.
template <class Number>
Number loss_of(const CrossEntropyRowsOf<Number>& c, const RowStatisticsOf<Number>& s,
               Number at_target) {
  const auto [top, log_sum] = s.log_sum;
  Number loss = (1 - c.smoothing) * (top - at_target) + log_sum;
  if (c.smoothing != 0) {
    const double mean = s.sum / double{static_cast<Number>(c.columns)};
    loss += c.smoothing * (top - static_cast<Number>(mean));
  }
  return loss;
}

auto kernel_of(const CrossEntropyRows& c) {
  return IsaTable<LossTable>::get().statistics[dtype_index(c.dtype)];
}
auto kernel_of(const CrossEntropyRowsOf<double>&) {
  return IsaTable<LossTable>::get().statistics_f64;
}

template <class Number>
LogSumOf<Number> forward_row(const CrossEntropyRowsOf<Number>& c, std::int64_t r, Number* losses) {
  const void* row = row_of(c.logits, r, c.columns, c.dtype);
  const RowStatisticsOf<Number> s = kernel_of(c)(row, c.columns, c.smoothing != 0);
  const bool counts = c.targets[r] != c.ignore_index;
  losses[r] = counts ? loss_of(c, s, value_at<Number>(row, c.targets[r], c.dtype)) : 0;
  return s.log_sum;
}

/// Where the gradient of the logits goes.
template <class Number>
struct LogitsGradient {
  const Number* dlosses;
  DType dtype;
  void* dlogits;
  std::int64_t stride;
};

auto kernel_of(const CrossEntropyRows& c, const LogitsGradient<float>& to) {
  return IsaTable<LossTable>::get().gradient[dtype_index(c.dtype)][dtype_index(to.dtype)];
}
auto kernel_of(const CrossEntropyRowsOf<double>&, const LogitsGradient<double>&) {
  return IsaTable<LossTable>::get().gradient_f64;
}

template <class Number>
void backward_row(const CrossEntropyRowsOf<Number>& c, std::int64_t r, LogSumOf<Number> log_sum,
                  const LogitsGradient<Number>& to) {
  const std::int64_t target = c.targets[r];
  const bool counts = target != c.ignore_index && target >= 0 && target < c.columns;
  CrossEntropyRowOf<Number> row;
  row.log_sum = log_sum;
  row.target = target;
  row.factor = counts ? to.dlosses[r] : 0;
  row.spread = c.smoothing / static_cast<Number>(c.columns);
  row.peak = 1 - c.smoothing;
  row.past_caches = goes_past(to.dlogits, c.logits, c.rows * c.columns, to.dtype);
  kernel_of(c, to)(row_of(c.logits, r, c.columns, c.dtype),
                   row_of(to.dlogits, r, to.stride, to.dtype), c.columns, row);
}

}  // namespace

void softmax_forward(DType dtype, const void* x, void* y, std::int64_t rows, std::int64_t columns,
                     bool logarithm) {
  const auto run = IsaTable<SoftmaxTable>::get().forward[kind_index(dtype)];
  const bool past = goes_past(y, x, rows * columns, dtype);
  for_ranges(rows, rows_per_long_task(columns), [&](std::int64_t first, std::int64_t count) {
    run(row_of(x, first, columns, dtype), row_of(y, first, columns, dtype), count, columns,
        logarithm, past);
  });
}

void softmax_backward(DType dtype, const void* y, const void* dy, void* dx, std::int64_t rows,
                      std::int64_t columns, bool logarithm) {
  const auto run = IsaTable<SoftmaxTable>::get().backward[kind_index(dtype)];
  const bool past = dx != y && goes_past(dx, dy, rows * columns, dtype);
  for_ranges(rows, rows_per_long_task(columns), [&](std::int64_t first, std::int64_t count) {
    run(row_of(y, first, columns, dtype), row_of(dy, first, columns, dtype),
        row_of(dx, first, columns, dtype), count, columns, logarithm, past);
  });
}

template <class Number>
void check_targets(const char* op, const CrossEntropyRowsOf<Number>& c) {
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const std::int64_t t = c.targets[r];
    check(t == c.ignore_index || (t >= 0 && t < c.columns), op, ": target is no class; got ", t,
          " in row ", r, ", expected 0 to ", c.columns - 1, " or ignore_index ", c.ignore_index);
  }
}

template <class Number>
void cross_entropy_forward(const CrossEntropyRowsOf<Number>& c,
                           std::type_identity_t<Number>* losses,
                           std::type_identity_t<LogSumOf<Number>>* log_sums) {
  for_ranges(c.rows, rows_per_task(c.columns), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) {
      const LogSumOf<Number> log_sum = forward_row(c, r, losses);
      if (log_sums != nullptr) {
        log_sums[r] = log_sum;
      }
    }
  });
}

template <class Number>
void cross_entropy_backward(const CrossEntropyRowsOf<Number>& c, const LogSumOf<Number>* log_sums,
                            const Number* dlosses, DType gradient_dtype, void* dlogits,
                            std::int64_t gradient_stride) {
  const LogitsGradient<Number> to{dlosses, gradient_dtype, dlogits, gradient_stride};
  for_ranges(c.rows, rows_per_task(c.columns), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) {
      backward_row(c, r, log_sums[r], to);
    }
  });
}

void cross_entropy(const CrossEntropyRows& c, float* losses, const float* dlosses,
                   DType gradient_dtype, void* dlogits, std::int64_t gradient_stride) {
  const LogitsGradient<float> to{dlosses, gradient_dtype, dlogits, gradient_stride};
  for_ranges(c.rows, rows_per_task(c.columns), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) {
      backward_row(c, r, forward_row(c, r, losses), to);
    }
  });
}

template void check_targets(const char*, const CrossEntropyRowsOf<float>&);
template void check_targets(const char*, const CrossEntropyRowsOf<double>&);
template void cross_entropy_forward(const CrossEntropyRowsOf<float>&, float*, LogSumOf<float>*);
template void cross_entropy_forward(const CrossEntropyRowsOf<double>&, double*, LogSumOf<double>*);
template void cross_entropy_backward(const CrossEntropyRowsOf<float>&, const LogSumOf<float>*,
                                     const float*, DType, void*, std::int64_t);
template void cross_entropy_backward(const CrossEntropyRowsOf<double>&, const LogSumOf<double>*,
                                     const double*, DType, void*, std::int64_t);

}  // namespace tessera::cpu
