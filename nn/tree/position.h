// Where a module stands in its tree. What members of Module do has its description there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

[[nodiscard]] int mod_depth(const Module& module);
[[nodiscard]] int mod_height(const Module& module);
[[nodiscard]] const Module& top_mod(const Module& module, std::optional<int> levels);
[[nodiscard]] std::string get_mod_key(const Module& module, const Module* top);

/// The name under which the first parent holds the module; empty for a root.
[[nodiscard]] std::string key(const Module& module);
/// What `name` of the module is in the whole tree.
[[nodiscard]] std::string full_name(const Module& module, std::string_view name);
/// Gives the slots of the module and below it their full names.
void name_slots(const Module& module);

}  // namespace tessera::nn::detail
