// What the steps of optimizers share: lists of parameters with their gradients and states.
#pragma once

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Inputs are groups of `members` tensors (a parameter, its gradient, states...), all of one shape
/// and dtype inside a group, dense, f32 or f64. Outputs are, group by group, the new values of all
/// members but the gradient. Throws InvalidArgument for anything else.
void infer_step(Infer& c, int members);

/// Elements of a group are independent of each other.
[[nodiscard]] ShardRule step_rule(const Infer& c, int members);

/// Number of groups in a call.
[[nodiscard]] inline int step_groups(const Kernel& k, int members) {
  return k.input_count() / members;
}

/// Calls `f.template operator()<T>(parameter, gradient, states, outputs, i)` for every element i of
/// group `group`, with pointers to T; `states` and `outputs` are arrays of them.
template <class F>
void for_step_elements(Kernel& k, int members, int group, const F& f) {
  const TensorImpl& first = k.input(group * members);
  const auto run = [&]<class T>() {
    const T* in[4]{};
    T* out[4]{};
    for (int m = 0; m < members; ++m) {
      in[m] = k.input(group * members + m).template data<T>();
    }
    for (int m = 0; m + 1 < members; ++m) {
      out[m] = k.output(group * (members - 1) + m).template data<T>();
    }
    for (std::int64_t i = 0; i < first.numel(); ++i) {
      f.template operator()<T>(in, out, i);
    }
  };
  first.dtype == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

}  // namespace tessera
