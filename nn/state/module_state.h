// A module's state as a map, as a tree and as leaves. What members of Module do has its description
// there.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tessera/nn/state/state_dict.h>
#include <tessera/nn/tree/entries.h>
#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

StateDict state_dict(const Module& module, const StateDictOptions& options);
LoadResult load_state_dict(Module& module, const StateDict& state, const LoadOptions& options);
[[nodiscard]] Variables v(const Module& module);
void set_v(Module& module, const Variables& values);
[[nodiscard]] Variables variables(const Module& module);
[[nodiscard]] std::pair<std::vector<Tensor>, TreeDef> flatten(const Module& module);
[[nodiscard]] ModulePtr unflatten(const TreeDef& definition, std::span<const Tensor> leaves);

}  // namespace tessera::nn::detail
