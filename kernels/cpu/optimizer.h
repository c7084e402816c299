// Optimizer steps over flat ranges of f32 or f64, in one pass, and sums of squares over fixed
// blocks.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

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

/// Runs of float or double, which the caller names where it is double.
template <class Number>
using ParameterRangesOf = std::span<const std::type_identity_t<ParameterRangeOf<Number>>>;

/// Steps by the formulas of the ops, for float and double.
template <class Number = float>
void adamw_step(const StepScalars&, const AdamwStep::Attrs&, ParameterRangesOf<Number>);
template <class Number = float>
void sgd_step(const StepScalars&, const SgdStep::Attrs&, ParameterRangesOf<Number>);
template <class Number = float>
void adagrad_step(const StepScalars&, const AdagradStep::Attrs&, ParameterRangesOf<Number>);
template <class Number = float>
void rmsprop_step(const StepScalars&, const RmspropStep::Attrs&, ParameterRangesOf<Number>);
template <class Number = float>
void lion_step(const StepScalars&, const LionStep::Attrs&, ParameterRangesOf<Number>);

inline constexpr std::int64_t kSquareBlock = 65536;

/// sums[b] = sum of x[i]^2 over block b of kSquareBlock elements of float or double, in double, in
/// a fixed order.
template <class Number>
void sum_of_squares(const Number* x, std::int64_t count, double* sums);

}  // namespace tessera::cpu
