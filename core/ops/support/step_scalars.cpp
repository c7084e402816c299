#include <tessera/core/ops/support/step_scalars.h>

#include <array>

#include <tessera/core/tensor/factories.h>

namespace tessera {

Tensor StepScalars::tensor() const {
  const std::array values{lr, gradient_scale, static_cast<double>(step)};
  return from_values<double>(values, {3});
}

StepScalars StepScalars::of(const Kernel& k) {
  const auto* values = k.input(0).data<double>();
  return {values[0], values[1], static_cast<std::int64_t>(values[2])};
}

}  // namespace tessera
