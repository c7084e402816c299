// What the bindings of optimizer steps share.
#pragma once

#include <optional>
#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {

/// The parameters of a step on groups of `members` tensors, when everything is f32 and dense and
/// each group's outputs lie on its inputs.
[[nodiscard]] std::optional<std::vector<ParameterRange>> ranges_in_place(const Kernel&,
                                                                         int members);

/// Runs `step` on the parameters of a call, or leaves the call to the reference.
template <class Attrs>
[[nodiscard]] bool step_in_place(const Kernel& k, int members, const Attrs& attrs,
                                 void (*step)(const Attrs&, std::span<const ParameterRange>)) {
  const auto ranges = ranges_in_place(k, members);
  if (ranges) {
    step(attrs, *ranges);
  }
  return ranges.has_value();
}

}  // namespace tessera::cpu
