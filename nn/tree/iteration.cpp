// Lists of what is in a tree.
#include <algorithm>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

/// Calls `visit(path, module)`, parents first, for what `enter` lets in.
template <class Enter, class Visit>
void walk(const Module& module, const std::string& path, const Enter& enter, const Visit& visit) {
  if (!enter(module)) {
    return;
  }
  visit(path, module);
  for (const ChildEntryPtr& child : module.child_entries()) {
    if (child->module != nullptr) {
      walk(*child->module, detail::dotted(path, child->name), enter, visit);
    }
  }
}

/// Calls `visit(name, slot)` for every name of every slot that `options` asks for.
template <class Visit>
void walk_slots(const Module& root, const IterOptions& options, const Visit& visit) {
  std::unordered_set<const Module*> modules;
  std::unordered_set<const Slot*> slots;
  const auto enter = [&](const Module& module) {
    return (options.recurse || &module == &root) &&
           (!options.remove_duplicate || modules.insert(&module).second);
  };
  walk(root, options.prefix, enter, [&](const std::string& path, const Module& module) {
    module.check_state_known();
    for (const SlotEntryPtr& entry : module.slot_entries()) {
      const bool listed = entry->slot != nullptr &&
                          (!options.remove_duplicate || slots.insert(entry->slot.get()).second);
      if (listed) {
        visit(detail::dotted(path, entry->name), entry->slot);
      }
    }
  });
}

template <class Handle>
Named<Handle> named(const Module& root, const IterOptions& options, Slot::Kind kind) {
  Named<Handle> found;
  walk_slots(root, options, [&](const std::string& name, const SlotPtr& slot) {
    if (slot->kind == kind) {
      found.emplace_back(name, Handle(slot));
    }
  });
  return found;
}

template <class T>
std::vector<T> values(Named<T> named) {
  std::vector<T> found;
  found.reserve(named.size());
  for (auto& [name, value] : named) {
    found.push_back(std::move(value));
  }
  return found;
}

}  // namespace

Named<Parameter> Module::named_parameters(const IterOptions& options) const {
  return named<Parameter>(*this, options, Slot::Kind::parameter);
}

std::vector<Parameter> Module::parameters(bool recurse) const {
  return values(named_parameters({.recurse = recurse}));
}

Named<Buffer> Module::named_buffers(const IterOptions& options) const {
  return named<Buffer>(*this, options, Slot::Kind::buffer);
}

std::vector<Buffer> Module::buffers(bool recurse) const {
  return values(named_buffers({.recurse = recurse}));
}

Named<SlotPtr> Module::named_slots() const {
  Named<SlotPtr> slots;
  walk_slots(*this, {.remove_duplicate = false},
             [&](const std::string& name, const SlotPtr& slot) { slots.emplace_back(name, slot); });
  return slots;
}

Named<ModulePtr> Module::named_children() const {
  check_state_known();
  Named<ModulePtr> found;
  for (const ChildEntryPtr& entry : children_) {
    const bool known = std::ranges::any_of(
        found, [&](const auto& child) { return child.second == entry->module; });
    if (entry->module != nullptr && !known) {
      found.emplace_back(entry->name, entry->module);
    }
  }
  return found;
}

std::vector<ModulePtr> Module::children() const {
  return values(named_children());
}

Named<Module*> Module::named_modules(std::unordered_set<const Module*>* memo,
                                     const std::string& prefix, bool remove_duplicate) const {
  std::unordered_set<const Module*> own;
  std::unordered_set<const Module*>& seen = memo == nullptr ? own : *memo;
  const auto enter = [&](const Module& module) {
    return remove_duplicate ? seen.insert(&module).second : !seen.contains(&module);
  };
  Named<Module*> found;
  walk(*this, prefix, enter, [&](const std::string& path, const Module& module) {
    module.check_state_known();
    found.emplace_back(path, const_cast<Module*>(&module));
  });
  return found;
}

Named<Module*> Module::all_modules() const {
  std::unordered_set<const Module*> seen;
  Named<Module*> found;
  walk(
      *this, "", [&](const Module& module) { return seen.insert(&module).second; },
      [&](const std::string& path, const Module& module) {
        found.emplace_back(path, const_cast<Module*>(&module));
      });
  return found;
}

std::vector<Module*> Module::modules() const {
  return values(named_modules());
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += numel_of(parameter.shape());
  }
  return count;
}

}  // namespace tessera::nn
