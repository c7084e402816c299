// What the bindings of optimizer steps share.
#pragma once

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {

/// True when everything is f32 and dense, and each parameter's outputs (`out` of them) lie on its
/// inputs (`in`): the value on input 0, its moments on input 2 and after.
[[nodiscard]] bool steps_in_place(const Kernel&, int in, int out);

}  // namespace tessera::cpu
