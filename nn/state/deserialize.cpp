// See serialize.cpp for the form.
#include <set>

#include <tessera/core/base/error.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/nn/build/construction.h>
#include <tessera/nn/io/sealed_bytes.h>
#include <tessera/nn/io/value_bytes.h>
#include <tessera/nn/state/class_registry.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

constexpr const char* kOp = "deserialize";

/// `read()`, whose complaints about missing or wrong fields become IoError.
auto field(const char* name, auto read) {
  try {
    return read();
  } catch (const InvalidArgument& error) {
    fail<IoError>(kOp, ": the bytes hold no module: ", name, ": ", error.what());
  }
}

template <class T>
T get(const Value& value, const char* name) {
  return field(name, [&] { return value.get<Value::Map>().at(name).template get<T>(); });
}

const Value& at(const Value& value, const char* name) {
  return *field(name, [&] { return &value.get<Value::Map>().at(name); });
}

DType dtype_of(const Value& saved) {
  return field("dtype", [&] { return parse_dtype(get<std::string>(saved, "dtype")); });
}

class TreeMaker {
 public:
  ModulePtr root(const Value& node) {
    ModulePtr made = make(node);
    fill(*made, node);
    return made;
  }

 private:
  static ModulePtr make(const Value& node) {
    return detail::make_registered(get<std::string>(node, "class"), at(node, "config"));
  }

  /// Makes the children of `module` those of the node; what its constructor made as they were
  /// stays.
  void fill(Module& module, const Value& node) {
    modules_.push_back(&module);
    const auto children = get<Value::Map>(node, "children");
    module.train(get<bool>(node, "training"));
    settle(module, at(node, "waiting"));
    drop_others(module, children);
    for (const auto& [name, child] : children) {
      const ChildEntryPtr entry = detail::child_entry(module, name);
      if (child.empty()) {
        detail::put_child(module, entry, nullptr);
      } else if (child.is<std::int64_t>()) {
        put(module, entry, numbered(child.get<std::int64_t>()));
      } else {
        fill_child(module, entry, child);
      }
    }
  }

  static void put(Module& module, const ChildEntryPtr& entry, const ModulePtr& child) {
    field("children", [&] { detail::put_child(module, entry, child); });
  }

  static void settle(Module& module, const Value& waiting) {
    if (waiting.empty()) {
      detail::mark_built(module);
      return;
    }
    check<IoError>(detail::waits_for_call(module), kOp, ": the bytes hold no module: a ",
                   module.class_name(), " does not wait");
    detail::BuildState& build_state = detail::build_state_of(module);
    build_state.path = get<std::string>(waiting, "path");
    if (!at(waiting, "dtype").empty()) {
      detail::adopt(module, {}, dtype_of(waiting));
    }
    build_state.model_key.reset();
    if (!at(waiting, "model").empty()) {
      build_state.model_key = static_cast<std::uint64_t>(get<std::int64_t>(waiting, "model"));
    }
  }

  static void drop_others(Module& module, const Value::Map& children) {
    const std::vector<ChildEntryPtr> entries = detail::child_entries(module);
    for (const ChildEntryPtr& entry : entries) {
      if (!children.contains(entry->name)) {
        module.erase(entry->name);
      }
    }
  }

  /// Whether `made`, by the constructor of its parent, is of the class and settings of the node.
  static bool is_as_saved(const Module& made, const Value& node) {
    if (detail::name_in_bytes(made) != get<std::string>(node, "class")) {
      return false;
    }
    return detail::registered_class(made) == nullptr ||
           to_bytes(detail::config_of(made)) == to_bytes(at(node, "config"));
  }

  void fill_child(Module& module, const ChildEntryPtr& entry, const Value& node) {
    if (entry->module == nullptr || !is_as_saved(*entry->module, node)) {
      put(module, entry, make(node));
    }
    fill(*entry->module, node);
  }

  [[nodiscard]] ModulePtr numbered(std::int64_t number) const {
    const bool known = number >= 0 && static_cast<std::size_t>(number) < modules_.size();
    check<IoError>(known, kOp, ": the bytes hold no module: no module ", number);
    return modules_[static_cast<std::size_t>(number)]->shared_from_this();
  }

  std::vector<Module*> modules_;
};

SlotEntryPtr entry_of(Module& root, const std::string& name, Slot::Kind kind) {
  const std::size_t dot = name.rfind('.');
  Module& owner = dot == std::string::npos ? root : root.get_submodule(name.substr(0, dot));
  return detail::slot_entry(owner, dot == std::string::npos ? name : name.substr(dot + 1), kind);
}

Shape shape_of(const Value& slot) {
  Shape shape;
  for (const Value& size : get<Value::List>(slot, "shape")) {
    shape.push_back(field("shape", [&] { return size.get<std::int64_t>(); }));
  }
  return shape;
}

void set_slot(Slot& slot, Slot::Kind kind, const Value& saved, const std::string& name) {
  slot.kind = kind;
  slot.name = name;
  slot.persistent = get<bool>(saved, "persistent");
  slot.value = {};
  slot.dtype = dtype_of(saved);
  slot.set_requires_grad(get<bool>(saved, "requires_grad") && is_differentiable(slot.dtype));
  slot.own_dtype = get<bool>(saved, "own_dtype");
  slot.shape = shape_of(saved);
  const Tensor value = field("value", [&] { return at(saved, "value").tensor(); });
  check<IoError>(!value.defined() || (value.shape() == slot.shape && value.dtype() == slot.dtype),
                 kOp, ": the value of \"", name, "\" does not fit it");
  slot.put(value);
}

/// Gives the slots of `root` their values and names, and empties the names that have none.
void fill_slots(Module& root, const Value& slots) {
  std::set<const SlotEntry*> filled;
  std::set<SlotPtr> used;
  for (const Value& saved : field("slots", [&] { return slots.get<Value::List>(); })) {
    const bool parameter = get<bool>(saved, "parameter");
    const Slot::Kind kind = parameter ? Slot::Kind::parameter : Slot::Kind::buffer;
    SlotPtr slot;
    for (const Value& text : get<Value::List>(saved, "names")) {
      const auto name = field("names", [&] { return text.get<std::string>(); });
      const SlotEntryPtr entry = field("names", [&] { return entry_of(root, name, kind); });
      if (slot == nullptr) {
        const bool free = entry->slot != nullptr && used.insert(entry->slot).second;
        slot = free ? entry->slot : std::make_shared<Slot>();
        set_slot(*slot, kind, saved, name);
      }
      entry->slot = slot;
      filled.insert(entry.get());
    }
  }
  for (Module* module : root.modules()) {
    for (const SlotEntryPtr& entry : detail::slot_entries(*module)) {
      if (!filled.contains(entry.get())) {
        entry->slot = nullptr;
      }
    }
  }
}

void set_extra_states(Module& root, const Value& states) {
  for (const auto& [name, state] : field("extra_state", [&] { return states.get<Value::Map>(); })) {
    Module& module = name.empty() ? root : root.get_submodule(name);
    auto* extra = dynamic_cast<HasExtraState*>(&module);
    check<IoError>(extra != nullptr, kOp, ": \"", name, "\" is a ", module.class_name(),
                   ", which has no extra state");
    extra->set_extra_state(state);
  }
}

}  // namespace

ModulePtr deserialize(std::span<const std::byte> bytes) {
  const CategoryScope category(MemoryCategory::parameter);
  const Value saved = value_from_bytes(unseal(bytes, kOp), kOp);
  // As children are, so that the factories' `make` gives no values.
  const detail::Construction construction(nullptr);
  ModulePtr root = TreeMaker().root(at(saved, "module"));
  fill_slots(*root, at(saved, "slots"));
  set_extra_states(*root, at(saved, "extra_state"));
  return root;
}

}  // namespace tessera::nn
