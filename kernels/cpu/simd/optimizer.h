// Serial optimizer kernels on ranges, as each instruction set has them.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {

/// What Adam and AdamW compute with, derived once a step in double.
struct AdamWFactors {
  float keep = 1;                                    ///< 1 - learning rate * decoupled decay
  float decay = 0;                                   ///< in the gradient
  float beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0;  ///< rest = 1 - beta
  float rate = 0;                                    ///< learning rate / (1 - beta1^step)
  float root_scale = 1;                              ///< 1 / sqrt(1 - beta2^step)
  float epsilon = 0;
  float gradient_scale = 1;
};

struct SgdFactors {
  float rate = 0, momentum = 0, rest = 1, decay = 0, gradient_scale = 1;  ///< rest = 1 - dampening
  bool nesterov = false, first_step = false;
};

struct AdagradFactors {
  float rate = 0, decay = 0, epsilon = 0, gradient_scale = 1;
  float initial = 0;  ///< sum of squares before the first step
  bool first_step = false;
};

struct RmspropFactors {
  float rate = 0, alpha = 0, rest = 0, epsilon = 0, decay = 0, momentum = 0, gradient_scale = 1;
  bool centered = false, has_momentum = false;
};

struct LionFactors {
  float rate = 0, decay = 0, beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, gradient_scale = 1;
};

struct OptimizerTable {
  void (*adamw)(const AdamWFactors&, const ParameterRange&);
  void (*sgd)(const SgdFactors&, const ParameterRange&);
  void (*adagrad)(const AdagradFactors&, const ParameterRange&);
  void (*rmsprop)(const RmspropFactors&, const ParameterRange&);
  void (*lion)(const LionFactors&, const ParameterRange&);
  double (*sum_of_squares)(const float* x, std::int64_t count);
};

}  // namespace tessera::cpu
