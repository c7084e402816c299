#include <tessera/nn/tree/registration_hooks.h>

namespace tessera::nn {
namespace {

template <class Hook>
HookList<Hook>& hooks() {
  static const auto list = std::make_shared<HookList<Hook>>();
  return *list;
}

/// The object as each hook in turn leaves it.
template <class Hook, class Object>
Object run(Module& owner, const std::string& name, Object object) {
  if (hooks<Hook>().empty()) {
    return object;
  }
  hooks<Hook>().walk([&](const auto& entry) {
    if (std::optional<Object> replacement = entry.hook(owner, name, object)) {
      object = *std::move(replacement);
    }
  });
  return object;
}

SlotPtr slot_of(const auto& handle) {
  return handle.defined() ? handle.slot() : nullptr;
}

}  // namespace

RemovableHandle register_parameter_registration_hook(ParameterRegistrationHook hook) {
  return hooks<ParameterRegistrationHook>().add(std::move(hook));
}

RemovableHandle register_buffer_registration_hook(BufferRegistrationHook hook) {
  return hooks<BufferRegistrationHook>().add(std::move(hook));
}

RemovableHandle register_module_registration_hook(ModuleRegistrationHook hook) {
  return hooks<ModuleRegistrationHook>().add(std::move(hook));
}

SlotPtr run_registration_hooks(Module& owner, const SlotEntry& entry, SlotPtr slot) {
  if (entry.kind == Slot::Kind::buffer) {
    return slot_of(run<BufferRegistrationHook>(owner, entry.name, Buffer(std::move(slot))));
  }
  if (slot == nullptr) {
    return slot;
  }
  return slot_of(run<ParameterRegistrationHook>(owner, entry.name, Parameter(std::move(slot))));
}

ModulePtr run_registration_hooks(Module& owner, const ChildEntry& entry, ModulePtr child) {
  return run<ModuleRegistrationHook>(owner, entry.name, std::move(child));
}

}  // namespace tessera::nn
