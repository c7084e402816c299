// The head of a language model: logits = x W^T and their cross entropy, without ever holding all
// logits.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// Rows are in `cuts` equal parts, the microbatches. The gradient of the weight is summed over 256
/// rows at a time, these sums are added in row order inside a microbatch, and microbatches along
/// the balanced binary tree; `max_bytes` changes memory and speed but no bits.
struct LinearCrossEntropy {
  std::int64_t rows = 0, columns = 0, classes = 0;
  DType dtype = DType::f32;               ///< of x and dx; bf16 also multiplies in bf16
  const void* x = nullptr;                ///< [rows, columns]
  const float* weight = nullptr;          ///< [classes, columns]
  const std::int64_t* targets = nullptr;  ///< [rows]
  std::int64_t ignore_index = -100;
  float smoothing = 0;
  std::int64_t cuts = 1;
  std::int64_t max_bytes = std::int64_t{256} << 20;  ///< of logits at a time; at least 256 rows

  float* losses = nullptr;  ///< [rows], 0 for ignored rows

  /// Gradient of each row's loss, known beforehand (such as 1 / rows that count). Null: no
  /// gradients, and the members below are not used.
  const float* dlosses = nullptr;
  void* dx = nullptr;           ///< [rows, columns]; may be null
  float* dweight = nullptr;     ///< [classes, columns]; may be null
  bool accumulate = false;      ///< dweight += the sum
  bool per_microbatch = false;  ///< dweight is [cuts, classes, columns], unsummed
};
void linear_cross_entropy(const LinearCrossEntropy&);

}  // namespace tessera::cpu
