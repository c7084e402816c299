// What the steps of optimizers share: lists of parameters with their gradients and states.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/step_tensors.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// Inputs are groups of `members` tensors (a parameter, its gradient, states...), all of one shape
/// and floating dtype inside a group, dense. Outputs are, group by group, the new values of all
/// members but the gradient. Throws InvalidArgument for anything else.
void infer_step(Infer& c, int members);

/// Elements of a group are independent of each other.
[[nodiscard]] ShardRule step_rule(const Infer& c, int members);

/// Runs `op` in place: new values go where the old ones were. Does nothing without parameters.
void call_step(const OpDef& op, std::span<const StepTensors> parameters, const void* attrs);

inline constexpr int kMostMembers = 5;

/// Calls `f(old, now)` for every element of every group: `old` holds the members' values, `now`
/// takes those of the outputs. Everything is computed in f64 and rounded once.
template <class F>
void for_step_elements(Kernel& k, int members, const F& f) {
  for (int group = 0; group < k.input_count() / members; ++group) {
    for (std::int64_t i = 0; i < k.input(group * members).numel(); ++i) {
      double old[kMostMembers]{};
      double now[kMostMembers]{};
      for (int m = 0; m < members; ++m) {
        old[m] = load_as<double>(k.input(group * members + m), i);
      }
      f(old, now);
      for (int m = 0; m + 1 < members; ++m) {
        store_as(k.output(group * (members - 1) + m), i, now[m]);
      }
    }
  }
}

}  // namespace tessera
