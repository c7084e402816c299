// Batch norm over the channels of [batch, channels, inner], forward and backward.
//
// A channel is summed by one task, in doubles, run by run: its bits depend neither on threads nor
// on other channels.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// x and y each in f32 or bf16; everything of one number a channel is f32.
struct BatchNormForward {
  std::int64_t batch = 0, channels = 0, inner = 0;
  DType dtype = DType::f32;  ///< of x
  DType y_dtype = DType::f32;
  double epsilon = 1e-5;
  const void* x = nullptr;
  const float* weight = nullptr;  ///< may be null
  const float* bias = nullptr;    ///< may be null
  void* y = nullptr;
  float* mean = nullptr;
  float* variance = nullptr;
};
void batch_norm_forward(const BatchNormForward&);

struct BatchNormBackward {
  std::int64_t batch = 0, channels = 0, inner = 0;
  DType dtype = DType::f32;  ///< of x and dx
  DType dy_dtype = DType::f32;
  double epsilon = 1e-5;
  const void* x = nullptr;
  const void* dy = nullptr;
  const float* weight = nullptr;  ///< may be null
  const float* mean = nullptr;
  const float* variance = nullptr;
  void* dx = nullptr;
  float* dweight = nullptr;  ///< may be null
  float* dbias = nullptr;    ///< may be null
};
void batch_norm_backward(const BatchNormBackward&);

}  // namespace tessera::cpu
