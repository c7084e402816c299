// Softmax, log-softmax and cross entropy over the last dim, forward and backward.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// y = softmax(x), or its logarithm, over rows of [rows, columns]; y may be x.
void softmax_forward(DType, const void* x, void* y, std::int64_t rows, std::int64_t columns,
                     bool logarithm);
/// dx from the output y and dy; dx may be dy.
void softmax_backward(DType, const void* y, const void* dy, void* dx, std::int64_t rows,
                      std::int64_t columns, bool logarithm);

/// The logarithm of a row's softmax is x - top - log_sum, one subtracted after the other: the sum
/// of a large and a small number has lost digits of the small one.
template <class Number>
struct LogSumOf {
  Number top = 0;      ///< the largest value
  Number log_sum = 0;  ///< log(sum of e^(x - top))
};
using LogSum = LogSumOf<float>;

template <class Number>
struct RowStatisticsOf {
  LogSumOf<Number> log_sum;
  double sum = 0;  ///< of the values
};
using RowStatistics = RowStatisticsOf<float>;

/// One row's part of the gradient of cross entropy.
template <class Number>
struct CrossEntropyRowOf {
  LogSumOf<Number> log_sum;
  Number factor = 0;  ///< gradient of the row's loss; 0 for an ignored row
  Number spread = 0;  ///< label smoothing / columns
  Number peak = 1;    ///< 1 - label smoothing
  std::int64_t target = 0;
  bool past_caches = false;  ///< the gradient is better not brought into the caches
};
using CrossEntropyRow = CrossEntropyRowOf<float>;

/// Losses of rows of logits[rows, columns], f32 or bf16 (f64 where numbers are double):
///   lse(x) - (1 - smoothing) x[target] - smoothing mean(x), and 0 where target == ignore_index.
template <class Number>
struct CrossEntropyRowsOf {
  std::int64_t rows = 0, columns = 0;
  DType dtype = dtype_of<Number>;
  const void* logits = nullptr;
  const std::int64_t* targets = nullptr;
  std::int64_t ignore_index = -100;
  Number smoothing = 0;
};
using CrossEntropyRows = CrossEntropyRowsOf<float>;
/// Throws InvalidArgument for a target that is no class, naming row and value; `op` begins the
/// error.
template <class Number>
void check_targets(const char* op, const CrossEntropyRowsOf<Number>&);

/// losses[rows]; log_sums[rows] may be null. Targets have been checked, here and below.
template <class Number>
void cross_entropy_forward(const CrossEntropyRowsOf<Number>&, std::type_identity_t<Number>* losses,
                           std::type_identity_t<LogSumOf<Number>>* log_sums);
/// dlogits (of `gradient_dtype`, f64 where the logits are) = d(loss of row r)/d(logits) ·
/// dlosses[r]; rows whose target is no class get zeros. It may lie on the logits: every row of f32
/// begins where it did, rows of bf16 are `gradient_stride` apart.
template <class Number>
void cross_entropy_backward(const CrossEntropyRowsOf<Number>&, const LogSumOf<Number>* log_sums,
                            const Number* dlosses, DType gradient_dtype, void* dlogits,
                            std::int64_t gradient_stride);

/// Losses and gradients, each row's gradient while its logits still lie in the caches.
void cross_entropy(const CrossEntropyRows&, float* losses, const float* dlosses,
                   DType gradient_dtype, void* dlogits, std::int64_t gradient_stride);

}  // namespace tessera::cpu
