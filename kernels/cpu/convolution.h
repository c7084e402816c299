// Convolutions and their gradients on dense tensors (samples, channels, positions), f32 or bf16 in
// memory, or all of f64.
//
// What is computed for a sample depends neither on the other samples nor on how many there are; a
// gradient of weights is summed over samples in an order that follows from their number inside a
// microbatch. Work is cut by shape alone, so threads change no bits.
#pragma once

#include <tessera/core/ops/support/convolution.h>

namespace tessera::cpu {

struct ConvolutionArray {
  char* data = nullptr;
  DType dtype = DType::f32;
};

/// What is computed from the other two: the gradient of x or of the weight, or y.
enum class ConvolutionResult : std::uint8_t { x, weight, y };

struct ConvolutionTask {
  ConvolutionResult result = ConvolutionResult::y;
  ConvolutionGeometry shape;
  ConvolutionArray x, weight, y;
  const float* bias = nullptr;  ///< added to the result, y or x: a number for each of its channels
  const double* bias_f64 = nullptr;  ///< in place of `bias` where arrays are f64
  DType compute = DType::f32;  ///< bf16: factors are rounded to bf16, sums are f32; f64: all is
  /// Equal parts of the samples of which the weight, f32 or f64, is summed one by one: their sums
  /// are added along the balanced binary tree or, `per_microbatch`, written one behind the other.
  std::int64_t cuts = 1;
  bool per_microbatch = false;
};

/// Carries a convolution out on the thread pool: by Winograd's algorithm where it suits, else by
/// the library that is in use or by products of matrices.
void convolve(const ConvolutionTask&);

/// Carries a convolution out by products of matrices.
void convolve_by_products(const ConvolutionTask&);

}  // namespace tessera::cpu
