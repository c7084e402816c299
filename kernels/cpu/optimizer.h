// Optimizer steps over flat ranges of f32 or f64, in one pass, and sums of squares over fixed
// blocks.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/core/ops/adagrad_step.h>
#include <tessera/core/ops/adamw_step.h>
#include <tessera/core/ops/lion_step.h>
#include <tessera/core/ops/rmsprop_step.h>
#include <tessera/core/ops/sgd_step.h>

namespace tessera::cpu {

/// A run of parameters with the same hyper-parameters.
template <class Number>
struct ParameterRangeOf {
  Number* parameter = nullptr;
  const Number* gradient = nullptr;
  Number* states[3]{};  ///< in the order of the op's inputs; null beyond the last
  std::int64_t count = 0;
};
using ParameterRange = ParameterRangeOf<float>;
using ParameterRangeF64 = ParameterRangeOf<double>;

/// The formulas are those of the ops.
void adamw_step(const StepScalars&, const AdamwStep::Attrs&, std::span<const ParameterRange>);
void adamw_step(const StepScalars&, const AdamwStep::Attrs&, std::span<const ParameterRangeF64>);
void sgd_step(const StepScalars&, const SgdStep::Attrs&, std::span<const ParameterRange>);
void sgd_step(const StepScalars&, const SgdStep::Attrs&, std::span<const ParameterRangeF64>);
void adagrad_step(const StepScalars&, const AdagradStep::Attrs&, std::span<const ParameterRange>);
void adagrad_step(const StepScalars&, const AdagradStep::Attrs&,
                  std::span<const ParameterRangeF64>);
void rmsprop_step(const StepScalars&, const RmspropStep::Attrs&, std::span<const ParameterRange>);
void rmsprop_step(const StepScalars&, const RmspropStep::Attrs&,
                  std::span<const ParameterRangeF64>);
void lion_step(const StepScalars&, const LionStep::Attrs&, std::span<const ParameterRange>);
void lion_step(const StepScalars&, const LionStep::Attrs&, std::span<const ParameterRangeF64>);

inline constexpr std::int64_t kSquareBlock = 65536;

/// sums[b] = sum of x[i]^2 over block b of kSquareBlock elements, in double, in a fixed order.
void sum_of_squares(const float* x, std::int64_t count, double* sums);
void sum_of_squares(const double* x, std::int64_t count, double* sums);

}  // namespace tessera::cpu
