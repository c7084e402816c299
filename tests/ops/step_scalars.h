// The first input of optimizers' ops.
#pragma once

#include "support/op_case.h"

namespace tessera::test {

/// Learning rate, gradient scale and step, as StepScalars has them: f64 whatever the parameters
/// are.
inline InputSpec scalars(double lr = 0.01, double gradient_scale = 1, double step = 2) {
  InputSpec all = given({3}, {lr, gradient_scale, step}, DType::f64);
  all.sweeps = all.differentiates = false;
  return all;
}

}  // namespace tessera::test
