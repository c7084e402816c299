// Layer norm and RMS norm over the last dim, forward and backward.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// [rows, columns], x and y each in f32 or bf16, statistics, scale and shift in f32; or all in f64.
template <class Number>
struct NormForwardOf {
  std::int64_t rows = 0, columns = 0;
  DType dtype = DType::f32;  ///< of x
  DType y_dtype = DType::f32;
  Number epsilon = Number(1e-5);
  bool centered = true;  ///< layer norm; false: RMS norm (no mean, no shift)
  const void* x = nullptr;
  const Number* scale = nullptr;  ///< [columns], may be null
  const Number* shift = nullptr;  ///< [columns], may be null
  void* y = nullptr;
  Number* mean = nullptr;     ///< [rows], only when centered; may be null
  Number* inverse = nullptr;  ///< [rows], 1 / sqrt(variance + epsilon); may be null
  bool past_caches = false;   ///< set by norm_forward: y is written past the caches
};
using NormForward = NormForwardOf<float>;
using NormForwardF64 = NormForwardOf<double>;
template <class Number>
void norm_forward(const NormForwardOf<Number>&);

/// Gradients. Those of scale and shift are sums over rows, cut into `cuts` equal parts that are
/// added along the tree, or written as [cuts, columns] when `per_microbatch`.
template <class Number>
struct NormBackwardOf {
  std::int64_t rows = 0, columns = 0;
  DType dtype = DType::f32;  ///< of x and dx
  DType dy_dtype = DType::f32;
  bool centered = true;
  const void* x = nullptr;
  const void* dy = nullptr;
  const Number* scale = nullptr;
  const Number* mean = nullptr;
  const Number* inverse = nullptr;
  void* dx = nullptr;        ///< may be null; may be dy when the dtypes agree
  Number* dscale = nullptr;  ///< may be null
  Number* dshift = nullptr;  ///< may be null
  std::int64_t cuts = 1;
  bool per_microbatch = false;
  bool past_caches = false;  ///< set by norm_backward: dx is written past the caches
};
using NormBackward = NormBackwardOf<float>;
using NormBackwardF64 = NormBackwardOf<double>;
template <class Number>
void norm_backward(const NormBackwardOf<Number>&);

}  // namespace tessera::cpu
