// Optimizer steps over flat ranges of f32, in one pass, and sums of squares over fixed blocks.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/core/tensor/half.h>

namespace tessera::cpu {

/// A run of parameters with the same hyper-parameters.
struct ParameterRange {
  float* parameter = nullptr;
  const float* gradient = nullptr;
  float* first = nullptr;      ///< AdamW: mean of gradients; SGD: momentum, null without
  float* second = nullptr;     ///< AdamW: mean of squared gradients
  BFloat16* shadow = nullptr;  ///< gets the new parameters in bf16; may be null
  std::int64_t count = 0;
};

/// AdamW of Loshchilov and Hutter (arXiv:1711.05101), decay times learning rate as PyTorch has it.
struct AdamWStep {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  std::int64_t step = 1;      ///< counted from 1
  double gradient_scale = 1;  ///< gradients are multiplied by it first
};
void adamw_step(const AdamWStep&, std::span<const ParameterRange>);

/// Gradient descent with momentum as PyTorch has it: on the first step momentum = gradient.
struct SgdStep {
  double learning_rate = 1e-3, momentum = 0, weight_decay = 0;
  bool nesterov = false;
  bool first_step = false;
  double gradient_scale = 1;
};
void sgd_step(const SgdStep&, std::span<const ParameterRange>);

inline constexpr std::int64_t kSquareBlock = 65536;

/// sums[b] = sum of x[i]^2 over block b of kSquareBlock elements, in double, in a fixed order.
void sum_of_squares(const float* x, std::int64_t count, double* sums);

}  // namespace tessera::cpu
