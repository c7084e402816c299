#include <tessera/nn/tree/registration.h>

#include <algorithm>

#include <tessera/core/autograd/meta.h>
#include <tessera/nn/tree/lookup.h>
#include <tessera/nn/tree/module_access.h>
#include <tessera/nn/tree/position.h>
#include <tessera/nn/tree/registration_hooks.h>

namespace tessera::nn::detail {
namespace {

constexpr const char* kModule = "module";

/// Takes a name that a registration added out again, unless what it stands for is kept.
template <class Entry>
class NewName {
 public:
  explicit NewName(std::vector<Entry>& names) : names_(names), before_(names.size()) {}
  ~NewName() {
    if (!kept_) {
      names_.resize(before_);
    }
  }
  NewName(const NewName&) = delete;
  NewName& operator=(const NewName&) = delete;
  void keep() { kept_ = true; }

 private:
  std::vector<Entry>& names_;
  std::size_t before_;
  bool kept_ = false;
};

void check_defined(const Tensor& value, const char* kind, const std::string& name) {
  check<TypeError>(value.defined(), kind, " \"", name,
                   "\": not a tensor; nullptr reserves the name");
}

void check_name(const Module& module, std::string_view name, const char* kind) {
  const auto require = [&](bool holds, const char* why) {
    check<KeyError>(holds, kind, " name \"", name, "\": ", why);
  };
  require(!name.empty(), "must not be empty");
  require(name.find('.') == std::string_view::npos, "must not contain '.'");
  require(name.find('/') == std::string_view::npos, "must not contain '/'");
  require(name != "_extra_state", "is where extra state is kept");
  const char* taken = kind_of(module, name);
  check<KeyError>(taken == nullptr || std::string_view(taken) == kind, kind, " name \"", name,
                  "\": already used by a ", taken == nullptr ? "" : taken, " of ",
                  module.class_name());
}

void check_known(const Module& module, std::string_view name) {
  check<AttributeError>(kind_of(module, name) != nullptr, module.class_name(),
                        " has no parameter, buffer or module \"", name, "\"");
}

/// Puts what `make_slot` gives behind a name, which stays what it was where that throws.
SlotEntryPtr put_new(Module& module, const std::string& name, Slot::Kind kind,
                     const auto& make_slot) {
  NewName added(ModuleAccess::data(module).slots);
  SlotEntryPtr entry = slot_entry(module, name, kind);
  put_slot(module, entry, make_slot());
  added.keep();
  return entry;
}

}  // namespace

bool own(const Module& module, const ModulePtr& child) {
  if (child == nullptr) {
    return false;
  }
  ModuleData& data = ModuleAccess::data(*child);
  const bool first = data.parent == nullptr;
  if (first) {
    data.parent = &module;
  } else {
    data.other_parents.push_back(&module);
  }
  return first;
}

void disown(const Module& module, const ModulePtr& child) {
  if (child == nullptr) {
    return;
  }
  ModuleData& data = ModuleAccess::data(*child);
  std::vector<const Module*>& others = data.other_parents;
  if (data.parent != &module) {
    others.erase(std::ranges::find(others, &module));
  } else if (others.empty()) {
    data.parent = nullptr;
  } else {
    data.parent = others.front();
    others.erase(others.begin());
    name_slots(*child);
  }
}

SlotEntryPtr slot_entry(Module& module, std::string_view name, Slot::Kind kind) {
  check_name(module, name, to_string(kind));
  if (SlotEntryPtr known = find_slot(module, name)) {
    return known;
  }
  std::vector<SlotEntryPtr>& slots = ModuleAccess::data(module).slots;
  slots.push_back(std::make_shared<SlotEntry>(std::string(name), kind, nullptr));
  return slots.back();
}

ChildEntryPtr child_entry(Module& module, std::string_view name) {
  check_name(module, name, kModule);
  if (ChildEntryPtr known = find_child(module, name)) {
    return known;
  }
  std::vector<ChildEntryPtr>& children = ModuleAccess::data(module).children;
  children.push_back(std::make_shared<ChildEntry>(std::string(name), nullptr,
                                                  ModuleAccess::class_of_children(module)));
  return children.back();
}

void put_slot(Module& module, const SlotEntryPtr& entry, SlotPtr slot) {
  SlotPtr put = run_registration_hooks(module, *entry, std::move(slot));
  check<TypeError>(put == nullptr || put->kind == entry->kind, to_string(entry->kind), " name \"",
                   entry->name, "\": a registration hook gave a ",
                   put == nullptr ? "" : to_string(put->kind));
  entry->slot = std::move(put);
}

void put_child(Module& module, const ChildEntryPtr& entry, ModulePtr child) {
  child = run_registration_hooks(module, *entry, std::move(child));
  if (child != nullptr) {
    check<TypeError>(entry->declared == nullptr || entry->declared->can_hold(*child),
                     "module name \"", entry->name, "\": ", module.class_name(), " holds a ",
                     entry->declared == nullptr ? "" : entry->declared->name, " there, and a ",
                     child->class_name(), " cannot take its place");
    const bool cycle = std::ranges::any_of(
        all_modules(*child), [&](const auto& below) { return below.second == &module; });
    check<ValueError>(!cycle, "module name \"", entry->name, "\": the ", child->class_name(),
                      " holds this ", module.class_name(), " itself");
  }
  disown(module, std::exchange(entry->module, child));
  if (own(module, child)) {
    name_slots(*child);
  }
  ModuleAccess::children_changed(module);
}

void put_child(Module& module, std::string_view name, ModulePtr child) {
  NewName added(ModuleAccess::data(module).children);
  put_child(module, child_entry(module, name), std::move(child));
  added.keep();
}

Parameter register_parameter(Module& module, const std::string& name, const Tensor& value,
                             bool requires_grad) {
  return Parameter(put_new(module, name, Slot::Kind::parameter, [&] {
    check_defined(value, "parameter", name);
    check<ValueError>(value.is_leaf(), "parameter \"", name,
                      "\": has autograd history; register a leaf");
    check(!requires_grad || is_differentiable(value.dtype()), "parameter \"", name,
          "\": has no gradient; got ", value.dtype(),
          ", expected a floating or complex dtype, or requires_grad off");
    const LeafNode* leaf = known_leaf_of(value);
    const auto other = leaf == nullptr ? nullptr : leaf->name.lock();
    const SlotEntryPtr held = find_slot(module, name);
    const bool itself = other != nullptr && held != nullptr && held->slot != nullptr &&
                        other.get() == &held->slot->name;
    check<ValueError>(other == nullptr || itself || value.requires_grad() == requires_grad,
                      "parameter \"", name, "\": the tensor is the parameter \"",
                      other == nullptr ? "" : *other, "\" already, and would be ",
                      requires_grad ? "trained" : "frozen",
                      " there too; tie the two, or register clone(x.detach())");
    auto slot = std::make_shared<Slot>();
    slot->name = full_name(module, name);
    slot->set_requires_grad(requires_grad);
    slot->put(value);
    return slot;
  }));
}

Buffer register_buffer(Module& module, const std::string& name, const Tensor& value,
                       bool persistent) {
  return Buffer(put_new(module, name, Slot::Kind::buffer, [&] {
    check_defined(value, "buffer", name);
    return make_buffer_slot(full_name(module, name), value, persistent);
  }));
}

SlotEntryPtr reserve(Module& module, const std::string& name, Slot::Kind kind) {
  return put_new(module, name, kind, [] { return nullptr; });
}

void set(Module& module, std::string_view name, std::nullptr_t) {
  check_known(module, name);
  if (const SlotEntryPtr entry = find_slot(module, name)) {
    put_slot(module, entry, nullptr);
  } else {
    put_child(module, find_child(module, name), nullptr);
  }
}

void erase(Module& module, std::string_view name) {
  check_known(module, name);
  if (const SlotEntryPtr entry = find_slot(module, name)) {
    entry->slot = nullptr;  // members that were declared under it hold nothing
    std::erase(ModuleAccess::data(module).slots, entry);
  } else {
    const ChildEntryPtr child = find_child(module, name);
    disown(module, std::exchange(child->module, nullptr));
    std::erase(ModuleAccess::data(module).children, child);
    ModuleAccess::children_changed(module);
  }
}

}  // namespace tessera::nn::detail
