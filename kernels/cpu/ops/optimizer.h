// What the bindings of optimizer steps share.
#pragma once

#include <optional>
#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {

/// The parameters of a step on groups of `members` tensors, when everything is dense and of numbers
/// of this type, float or double, and each group's outputs lie on its inputs.
template <class Number>
[[nodiscard]] std::optional<std::vector<ParameterRangeOf<Number>>> ranges_in_place(const Kernel&,
                                                                                   int members);

/// Runs `step` on the parameters of a call, or leaves the call to the reference.
template <class Number, class Attrs>
[[nodiscard]] bool step_in_place(const Kernel& k, int members, const Attrs& attrs,
                                 void (*step)(const StepScalars&, const Attrs&,
                                              std::span<const ParameterRangeOf<Number>>)) {
  const auto ranges = ranges_in_place<Number>(k, members);
  if (ranges) {
    step(StepScalars::of(k), attrs, *ranges);
  }
  return ranges.has_value();
}

}  // namespace tessera::cpu
