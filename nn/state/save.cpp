// Writing a tree's state under its names.
#include <tessera/nn/state/module_state.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

void save_slots(const Module& module, Slot::Kind kind, const std::string& prefix, bool keep_vars,
                StateDict& state) {
  for (const SlotEntryPtr& entry : slot_entries(module)) {
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
  run_state_hooks(state_hooks(module), &StateHooks::save_post, module, state, prefix, metadata);
  state.metadata().set(path, std::move(metadata));
}

/// Parameters, then buffers, then extra state, then the children in order.
void save_module(Module& module, const std::string& prefix, bool keep_vars, StateDict& state) {
  const std::string path = prefix.substr(0, prefix.size() - (prefix.ends_with('.') ? 1 : 0));
  check_state_known(module);
  state.metadata().set(path, Metadata{{"version", module.state_version()}});
  run_state_hooks(state_hooks(module), &StateHooks::save_pre, module, prefix, keep_vars);
  save_slots(module, Slot::Kind::parameter, prefix, keep_vars, state);
  save_slots(module, Slot::Kind::buffer, prefix, keep_vars, state);
  if (const auto* extra = dynamic_cast<const HasExtraState*>(&module)) {
    state.set(prefix + std::string(kExtraState), extra->get_extra_state());
  }
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr) {
      save_module(*child->module, prefix + child->name + ".", keep_vars, state);
    }
  }
  run_post_hooks(module, prefix, path, state);
}

}  // namespace

StateDict state_dict(const Module& module, const StateDictOptions& options) {
  StateDict own;
  StateDict& state = options.destination == nullptr ? own : *options.destination;
  save_module(self(module), options.prefix, options.keep_vars, state);
  return state;
}

}  // namespace tessera::nn::detail
