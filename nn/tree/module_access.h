// The way from a module to its data.
#pragma once

#include <vector>

#include <tessera/nn/tree/module.h>

namespace tessera::nn::detail {

/// The key to what a module shows no class that derives from it: its data, and the functions that
/// such a class overrides.
struct ModuleAccess {
  static ModuleData& data(Module& module) { return module.data_; }
  static const ModuleData& data(const Module& module) { return module.data_; }
  static bool do_build(Module& module, const Args& args, const Kwargs& kwargs) {
    return module.do_build(args, kwargs);
  }
  static void create_variables(Module& module) {
    module.create_variables(module.device(), module.dtype());
  }
  static const ClassInfo* class_of_children(const Module& module) {
    return module.class_of_children();
  }
  static void children_changed(Module& module) { module.children_changed(); }
};

/// The module as whoever made it has it: a tree lists modules that can be changed, itself too, and
/// a call builds the module that it calls.
inline Module& self(const Module& module) {
  return *ModuleAccess::data(module).self;
}
/// What the class is made of, found out when `make` or Child constructed the module.
inline const ClassInfo& class_info(const Module& module) {
  return *ModuleAccess::data(module).info;
}
/// What a call may change.
inline BuildState& build_state_of(const Module& module) {
  return ModuleAccess::data(module).build;
}
/// Null when there never were any.
inline const CallHooks* call_hooks(const Module& module) {
  return ModuleAccess::data(module).call_hooks.get();
}
inline const StateHooks* state_hooks(const Module& module) {
  return ModuleAccess::data(module).state_hooks.get();
}
/// The module's own names, in order.
inline const std::vector<SlotEntryPtr>& slot_entries(const Module& module) {
  return ModuleAccess::data(module).slots;
}
inline const std::vector<ChildEntryPtr>& child_entries(const Module& module) {
  return ModuleAccess::data(module).children;
}

}  // namespace tessera::nn::detail
