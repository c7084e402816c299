#include <tessera/nn/tree/listing.h>

#include <algorithm>

#include <tessera/nn/build/build.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

/// Calls `visit(path, module)`, parents first, for what `enter` lets in.
void walk(Module& module, const std::string& path, const auto& enter, const auto& visit) {
  if (!enter(module)) {
    return;
  }
  visit(path, module);
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr) {
      walk(*child->module, dotted(path, child->name), enter, visit);
    }
  }
}

/// Calls `visit(name, slot)` for every name of every slot that `options` asks for.
void walk_slots(const Module& root, const IterOptions& options, const auto& visit) {
  std::unordered_set<const Module*> modules;
  std::unordered_set<const Slot*> slots;
  const auto enter = [&](const Module& module) {
    return (options.recurse || &module == &root) &&
           (!options.remove_duplicate || modules.insert(&module).second);
  };
  walk(self(root), options.prefix, enter, [&](const std::string& path, const Module& module) {
    check_state_known(module);
    for (const SlotEntryPtr& entry : slot_entries(module)) {
      const bool listed = entry->slot != nullptr &&
                          (!options.remove_duplicate || slots.insert(entry->slot.get()).second);
      if (listed) {
        visit(dotted(path, entry->name), entry->slot);
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

}  // namespace

Named<Parameter> named_parameters(const Module& module, const IterOptions& options) {
  return named<Parameter>(module, options, Slot::Kind::parameter);
}

Named<Buffer> named_buffers(const Module& module, const IterOptions& options) {
  return named<Buffer>(module, options, Slot::Kind::buffer);
}

Named<SlotPtr> named_slots(const Module& module) {
  Named<SlotPtr> slots;
  walk_slots(module, {.remove_duplicate = false},
             [&](const std::string& name, const SlotPtr& slot) { slots.emplace_back(name, slot); });
  return slots;
}

Named<ModulePtr> named_children(const Module& module) {
  check_state_known(module);
  Named<ModulePtr> found;
  for (const ChildEntryPtr& entry : child_entries(module)) {
    const bool known = std::ranges::any_of(
        found, [&](const auto& child) { return child.second == entry->module; });
    if (entry->module != nullptr && !known) {
      found.emplace_back(entry->name, entry->module);
    }
  }
  return found;
}

Named<Module*> named_modules(const Module& root, std::unordered_set<const Module*>* memo,
                             const std::string& prefix, bool remove_duplicate) {
  std::unordered_set<const Module*> own;
  std::unordered_set<const Module*>& seen = memo == nullptr ? own : *memo;
  const auto enter = [&](const Module& module) {
    return remove_duplicate ? seen.insert(&module).second : !seen.contains(&module);
  };
  Named<Module*> found;
  walk(self(root), prefix, enter, [&](const std::string& path, Module& module) {
    check_state_known(module);
    found.emplace_back(path, &module);
  });
  return found;
}

Named<Module*> all_modules(const Module& root) {
  std::unordered_set<const Module*> seen;
  Named<Module*> found;
  walk(
      self(root), "", [&](const Module& module) { return seen.insert(&module).second; },
      [&](const std::string& path, Module& module) { found.emplace_back(path, &module); });
  return found;
}

std::int64_t parameter_count(const Module& module) {
  std::int64_t count = 0;
  for (const Parameter& parameter : module.parameters()) {
    count += numel_of(parameter.shape());
  }
  return count;
}

}  // namespace tessera::nn::detail
