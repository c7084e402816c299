// What changes from one step of an optimizer to the next.
#pragma once

#include <cstdint>

#include <tessera/core/dispatch/kernel.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The first input of an optimizer's op, as an f64 tensor (3,) beside the parameters. They are no
/// attributes: a step that was recorded can be run again with others.
struct StepScalars {
  double lr = 1e-3;
  double gradient_scale = 1;  ///< gradients are multiplied with it first
  std::int64_t step = 1;      ///< of these parameters, counted from 1

  [[nodiscard]] Tensor tensor() const;
  /// The scalars that a kernel was called with.
  [[nodiscard]] static StepScalars of(const Kernel& k);
};

}  // namespace tessera
