// Process-wide hooks that see every parameter, buffer and module just before it is put behind a
// name, and may put something else there.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <tessera/core/base/hook_list.h>
#include <tessera/nn/parameter.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn {

/// What they return takes the place of what is being registered; nothing keeps it. Reserving a name
/// runs the hooks of buffers (with an undefined one) and modules (with null), not of parameters.
using ParameterRegistrationHook =
    std::function<std::optional<Parameter>(Module&, std::string_view name, const Parameter&)>;
using BufferRegistrationHook =
    std::function<std::optional<Buffer>(Module&, std::string_view name, const Buffer&)>;
using ModuleRegistrationHook =
    std::function<std::optional<ModulePtr>(Module&, std::string_view name, const ModulePtr&)>;

RemovableHandle register_parameter_registration_hook(ParameterRegistrationHook hook);
RemovableHandle register_buffer_registration_hook(BufferRegistrationHook hook);
RemovableHandle register_module_registration_hook(ModuleRegistrationHook hook);

/// What the hooks make of `slot` or `child`.
[[nodiscard]] SlotPtr run_registration_hooks(Module& owner, const SlotEntry& entry, SlotPtr slot);
[[nodiscard]] ModulePtr run_registration_hooks(Module& owner, const ChildEntry& entry,
                                               ModulePtr child);

}  // namespace tessera::nn
