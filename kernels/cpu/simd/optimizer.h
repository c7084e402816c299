// Serial optimizer kernels on ranges, as each instruction set has them.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {

/// What Adam and AdamW compute with, derived once a step in double.
template <class Number>
struct AdamWFactors {
  Number keep = 1;                                    ///< 1 - learning rate * decoupled decay
  Number decay = 0;                                   ///< in the gradient
  Number beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0;  ///< rest = 1 - beta
  Number rate = 0;                                    ///< learning rate / (1 - beta1^step)
  Number root_scale = 1;                              ///< 1 / sqrt(1 - beta2^step)
  Number epsilon = 0;
  Number gradient_scale = 1;
};

template <class Number>
struct SgdFactors {
  Number rate = 0, momentum = 0, rest = 1, decay = 0, gradient_scale = 1;  ///< rest = 1 - dampening
  bool nesterov = false, first_step = false;
};

template <class Number>
struct AdagradFactors {
  Number rate = 0, decay = 0, epsilon = 0, gradient_scale = 1;
  Number initial = 0;  ///< sum of squares before the first step
  bool first_step = false;
};

template <class Number>
struct RmspropFactors {
  Number rate = 0, alpha = 0, rest = 0, epsilon = 0, decay = 0, momentum = 0, gradient_scale = 1;
  bool centered = false, has_momentum = false;
};

template <class Number>
struct LionFactors {
  Number rate = 0, decay = 0, beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, gradient_scale = 1;
};

/// Steps of parameters whose numbers, gradients and states are of one type.
template <class Number>
struct OptimizerSteps {
  using Range = ParameterRangeOf<Number>;
  void (*adamw)(const AdamWFactors<Number>&, const Range&);
  void (*sgd)(const SgdFactors<Number>&, const Range&);
  void (*adagrad)(const AdagradFactors<Number>&, const Range&);
  void (*rmsprop)(const RmspropFactors<Number>&, const Range&);
  void (*lion)(const LionFactors<Number>&, const Range&);
  double (*sum_of_squares)(const Number* x, std::int64_t count);
};

struct OptimizerTable {
  OptimizerSteps<float> f32;
  OptimizerSteps<double> f64;

  template <class Number>
  [[nodiscard]] const OptimizerSteps<Number>& of() const {
    if constexpr (sizeof(Number) == sizeof(double)) {
      return f64;
    } else {
      return f32;
    }
  }
};

}  // namespace tessera::cpu
