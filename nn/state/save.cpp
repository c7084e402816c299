// Writing a tree's state under its names.
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

void save_slots(const Module& module, Slot::Kind kind, const std::string& prefix, bool keep_vars,
                StateDict& state) {
  for (const SlotEntryPtr& entry : module.slot_entries()) {
    const SlotPtr& slot = entry->slot;
    if (entry->kind != kind || slot == nullptr || !slot->persistent) {
      continue;
    }
    check<RuntimeError>(slot->value.defined(), "state_dict: ", module.class_name(), " has no \"",
                        entry->name, "\" yet: ", why_without_value(*slot));
    state.set(prefix + entry->name, keep_vars ? slot->value : slot->value.detach());
  }
}

void run_post_hooks(Module& module, const std::string& prefix, const std::string& path,
                    StateDict& state) {
  Metadata metadata = state.metadata().at(path);
  run_state_hooks(module.state_hooks(), &StateHooks::save_post, module, state, prefix, metadata);
  state.metadata().set(path, std::move(metadata));
}

/// Parameters, then buffers, then extra state, then the children in order.
void save_module(Module& module, const std::string& prefix, bool keep_vars, StateDict& state) {
  const std::string path = prefix.substr(0, prefix.size() - (prefix.ends_with('.') ? 1 : 0));
  module.check_state_known();
  state.metadata().set(path, Metadata{{"version", module.state_version()}});
  run_state_hooks(module.state_hooks(), &StateHooks::save_pre, module, prefix, keep_vars);
  save_slots(module, Slot::Kind::parameter, prefix, keep_vars, state);
  save_slots(module, Slot::Kind::buffer, prefix, keep_vars, state);
  if (const auto* extra = dynamic_cast<const HasExtraState*>(&module)) {
    state.set(prefix + std::string(kExtraState), extra->get_extra_state());
  }
  for (const ChildEntryPtr& child : module.child_entries()) {
    if (child->module != nullptr) {
      save_module(*child->module, prefix + child->name + ".", keep_vars, state);
    }
  }
  run_post_hooks(module, prefix, path, state);
}

}  // namespace

StateDict Module::state_dict(const StateDictOptions& options) const {
  StateDict own;
  StateDict& state = options.destination == nullptr ? own : *options.destination;
  save_module(const_cast<Module&>(*this), options.prefix, options.keep_vars, state);
  return state;
}

}  // namespace tessera::nn
