// What is below a module, as a tree.
#pragma once

#include <optional>

#include <tessera/core/base/ordered_map.h>
#include <tessera/nn/state/variables.h>

namespace tessera::nn {

class Module;

struct SubModsOptions {
  bool show_v = true;               ///< with the parameters of what has nothing below it here
  std::optional<int> depth{};       ///< levels below the module
  bool flatten_key_chains = false;  ///< one level, under dotted names
};

/// Children by name; what has none, or none within the depth, may hold its parameters.
struct SubMods {
  OrderedMap<SubMods> children;
  Variables v;
};

namespace detail {
/// See Module::sub_mods.
[[nodiscard]] SubMods sub_mods(const Module& module, const SubModsOptions& options);
}  // namespace detail

}  // namespace tessera::nn
