// Layer norm and RMS norm over the last dim, forward and backward.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// [rows, columns], x and y each in f32 or bf16; statistics, scale and shift are f32.
struct NormForward {
  std::int64_t rows = 0, columns = 0;
  DType dtype = DType::f32;  ///< of x
  DType y_dtype = DType::f32;
  float epsilon = 1e-5F;
  bool centered = true;  ///< layer norm; false: RMS norm (no mean, no shift)
  const void* x = nullptr;
  const float* scale = nullptr;  ///< [columns], may be null
  const float* shift = nullptr;  ///< [columns], may be null
  void* y = nullptr;
  float* mean = nullptr;     ///< [rows], only when centered; may be null
  float* inverse = nullptr;  ///< [rows], 1 / sqrt(variance + epsilon); may be null
  bool past_caches = false;  ///< set by norm_forward: y is written past the caches
};
void norm_forward(const NormForward&);

/// Gradients. Those of scale and shift are sums over rows, cut into `cuts` equal parts that are
/// added along the tree, or written as [cuts, columns] when `stacked`.
struct NormBackward {
  std::int64_t rows = 0, columns = 0;
  DType dtype = DType::f32;  ///< of x and dx
  DType dy_dtype = DType::f32;
  bool centered = true;
  const void* x = nullptr;
  const void* dy = nullptr;
  const float* scale = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  void* dx = nullptr;       ///< may be null; may be dy when the dtypes agree
  float* dscale = nullptr;  ///< may be null
  float* dshift = nullptr;  ///< may be null
  std::int64_t cuts = 1;
  bool stacked = false;
  bool past_caches = false;  ///< set by norm_backward: dx is written past the caches
};
void norm_backward(const NormBackward&);

}  // namespace tessera::cpu
