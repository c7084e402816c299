// Batch norm over the channels of [batch, channels, inner], forward and backward.
//
// A channel is summed by one task, in doubles, run by run: its bits depend neither on threads nor
// on other channels.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// x and y each in f32 or bf16, everything of one number a channel in f32; or all in f64.
template <class Number>
struct BatchNormForwardOf {
  std::int64_t batch = 0, channels = 0, inner = 0;
  DType dtype = DType::f32;  ///< of x
  DType y_dtype = DType::f32;
  double epsilon = 1e-5;
  const void* x = nullptr;
  const Number* weight = nullptr;  ///< may be null
  const Number* bias = nullptr;    ///< may be null
  void* y = nullptr;
  Number* mean = nullptr;
  Number* variance = nullptr;
};
using BatchNormForward = BatchNormForwardOf<float>;
using BatchNormForwardF64 = BatchNormForwardOf<double>;
void batch_norm_forward(const BatchNormForward&);
void batch_norm_forward(const BatchNormForwardF64&);

template <class Number>
struct BatchNormBackwardOf {
  std::int64_t batch = 0, channels = 0, inner = 0;
  DType dtype = DType::f32;  ///< of x and dx
  DType dy_dtype = DType::f32;
  double epsilon = 1e-5;
  const void* x = nullptr;
  const void* dy = nullptr;
  const Number* weight = nullptr;  ///< may be null
  const Number* mean = nullptr;
  const Number* variance = nullptr;
  void* dx = nullptr;
  Number* dweight = nullptr;  ///< may be null
  Number* dbias = nullptr;    ///< may be null
};
using BatchNormBackward = BatchNormBackwardOf<float>;
using BatchNormBackwardF64 = BatchNormBackwardOf<double>;
void batch_norm_backward(const BatchNormBackward&);
void batch_norm_backward(const BatchNormBackwardF64&);

}  // namespace tessera::cpu
