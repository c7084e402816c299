// Finding what is in a module by its name, and in a tree by dotted path. What members of Module do
// has its description there.
#pragma once

#include <optional>
#include <string_view>

#include <tessera/nn/parameter.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn::detail {

[[nodiscard]] Module& get_submodule(const Module& module, std::string_view path);
void set_submodule(Module& module, std::string_view path, const ModulePtr& child, bool strict);
[[nodiscard]] Parameter get_parameter(const Module& module, std::string_view path);
[[nodiscard]] std::optional<Tensor> get_buffer(const Module& module, std::string_view path);

/// The entry of a name of the module's own, or null.
[[nodiscard]] SlotEntryPtr find_slot(const Module& module, std::string_view name);
[[nodiscard]] ChildEntryPtr find_child(const Module& module, std::string_view name);
/// What a name stands for: "parameter", "buffer", "module", or null for nothing.
[[nodiscard]] const char* kind_of(const Module& module, std::string_view name);
[[nodiscard]] const char* to_string(Slot::Kind kind);

}  // namespace tessera::nn::detail
