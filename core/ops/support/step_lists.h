// What the steps of optimizers share: lists of parameters with their gradients and states.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/step_scalars.h>
#include <tessera/core/ops/support/step_tensors.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// Inputs are StepScalars and behind them `members` tensors for each parameter (its value,
/// gradient, states...), dense and all of one shape and floating dtype. Outputs are, parameter by
/// parameter, the new values of all members but the gradient. Throws InvalidArgument for anything
/// else.
void infer_step(Infer& c, int members);

/// Elements of a parameter are independent of each other; scalars are whole.
[[nodiscard]] ShardRule step_rule(const Infer& c, int members);

/// What steps share: `Op` has the number of its members by its attributes and a reference kernel.
template <class Op>
struct ListStep {
  static void infer(Infer& c, const auto& attrs) { infer_step(c, Op::members(attrs)); }
  static ShardRule shard(const Infer& c, const auto& attrs) {
    return step_rule(c, Op::members(attrs));
  }
};

/// Runs `op` in place: new values go where the old ones were. Does nothing without parameters.
/// Throws InvalidArgument for a step below 1.
void call_step(const OpDef& op, std::span<const StepTensors> parameters, const StepScalars& scalars,
               const void* attrs);

/// Number of parameters in a step's call, each with `members` tensors.
[[nodiscard]] inline int step_parameter_count(const Kernel& k, int members) {
  return (k.input_count() - 1) / members;
}
/// Index of member `m` of parameter `parameter` among a step's inputs.
[[nodiscard]] inline int member_at(int members, int parameter, int m) {
  return 1 + parameter * members + m;
}

inline constexpr int kMostMembers = 5;

/// Calls `f(old, now)` for every element of every parameter: `old` holds the members' values, `now`
/// takes those of the outputs. Everything is computed in f64 and rounded once.
template <class F>
void for_step_elements(Kernel& k, int members, const F& f) {
  for (int parameter = 0; parameter < step_parameter_count(k, members); ++parameter) {
    for (std::int64_t i = 0; i < k.input(member_at(members, parameter, 0)).numel(); ++i) {
      double old[kMostMembers]{};
      double now[kMostMembers]{};
      for (int m = 0; m < members; ++m) {
        old[m] = load_as<double>(k.input(member_at(members, parameter, m)), i);
      }
      f(old, now);
      for (int m = 0; m + 1 < members; ++m) {
        store_as(k.output(parameter * (members - 1) + m), i, now[m]);
      }
    }
  }
}

}  // namespace tessera
