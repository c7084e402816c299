#include <tessera/nn/tree/registration_hooks.h>

#include <algorithm>

#include <tessera/nn/build/construction.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

constexpr const char* kModule = "module";

const char* to_string(Slot::Kind kind) {
  return kind == Slot::Kind::parameter ? "parameter" : "buffer";
}

/// The entry with that name, or null.
template <class Entry>
Entry find(const std::vector<Entry>& entries, std::string_view name) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry->name == name; });
  return found == entries.end() ? nullptr : *found;
}

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

}  // namespace

Module::Module() {
  detail::Construction::Start start = detail::Construction::start();
  class_ = start.info;
  options_ = std::move(start.options);
}

Module::~Module() {
  for (const ChildEntryPtr& entry : children_) {
    disown(entry->module);
  }
}

bool Module::own(const ModulePtr& child) const {
  if (child == nullptr) {
    return false;
  }
  const bool first = child->parent_ == nullptr;
  if (first) {
    child->parent_ = this;
  } else {
    child->other_parents_.push_back(this);
  }
  return first;
}

void Module::disown(const ModulePtr& child) const {
  if (child == nullptr) {
    return;
  }
  std::vector<const Module*>& others = child->other_parents_;
  if (child->parent_ != this) {
    others.erase(std::ranges::find(others, this));
  } else if (others.empty()) {
    child->parent_ = nullptr;
  } else {
    child->parent_ = others.front();
    others.erase(others.begin());
    child->name_slots();
  }
}

SlotEntryPtr Module::find_slot(std::string_view name) const {
  return find(slots_, name);
}

ChildEntryPtr Module::find_child(std::string_view name) const {
  return find(children_, name);
}

const char* Module::kind_of(std::string_view name) const {
  if (const SlotEntryPtr entry = find_slot(name)) {
    return to_string(entry->kind);
  }
  return find_child(name) == nullptr ? nullptr : kModule;
}

void Module::check_name(std::string_view name, const char* kind) const {
  const auto require = [&](bool holds, const char* why) {
    check<KeyError>(holds, kind, " name \"", name, "\": ", why);
  };
  require(!name.empty(), "must not be empty");
  require(name.find('.') == std::string_view::npos, "must not contain '.'");
  require(name.find('/') == std::string_view::npos, "must not contain '/'");
  require(name != "_extra_state", "is where extra state is kept");
  const char* taken = kind_of(name);
  check<KeyError>(taken == nullptr || std::string_view(taken) == kind, kind, " name \"", name,
                  "\": already used by a ", taken == nullptr ? "" : taken, " of ", class_name());
}

void Module::check_known(std::string_view name) const {
  check<AttributeError>(kind_of(name) != nullptr, class_name(),
                        " has no parameter, buffer or module \"", name, "\"");
}

SlotEntryPtr Module::slot_entry(std::string_view name, Slot::Kind kind) {
  check_name(name, to_string(kind));
  if (SlotEntryPtr known = find_slot(name)) {
    return known;
  }
  slots_.push_back(std::make_shared<SlotEntry>(std::string(name), kind, nullptr));
  return slots_.back();
}

ChildEntryPtr Module::child_entry(std::string_view name) {
  check_name(name, kModule);
  if (ChildEntryPtr known = find_child(name)) {
    return known;
  }
  children_.push_back(
      std::make_shared<ChildEntry>(std::string(name), nullptr, class_of_children()));
  return children_.back();
}

void Module::put_slot(const SlotEntryPtr& entry, SlotPtr slot) {
  SlotPtr put = run_registration_hooks(*this, *entry, std::move(slot));
  check<TypeError>(put == nullptr || put->kind == entry->kind, to_string(entry->kind), " name \"",
                   entry->name, "\": a registration hook gave a ",
                   put == nullptr ? "" : to_string(put->kind));
  entry->slot = std::move(put);
}

void Module::put_child(const ChildEntryPtr& entry, ModulePtr child) {
  child = run_registration_hooks(*this, *entry, std::move(child));
  if (child != nullptr) {
    check<TypeError>(entry->declared == nullptr || entry->declared->can_hold(*child),
                     "module name \"", entry->name, "\": ", class_name(), " holds a ",
                     entry->declared == nullptr ? "" : entry->declared->name, " there, and a ",
                     child->class_name(), " cannot take its place");
    const bool cycle = std::ranges::any_of(child->all_modules(),
                                           [&](const auto& below) { return below.second == this; });
    check<ValueError>(!cycle, "module name \"", entry->name, "\": the ", child->class_name(),
                      " holds this ", class_name(), " itself");
  }
  disown(std::exchange(entry->module, child));
  if (own(child)) {
    child->name_slots();
  }
  children_changed();
}

void Module::put_child(std::string_view name, ModulePtr child) {
  NewName added(children_);
  put_child(child_entry(name), std::move(child));
  added.keep();
}

Parameter Module::register_parameter(const std::string& name, const Tensor& value,
                                     bool requires_grad) {
  NewName added(slots_);
  const SlotEntryPtr entry = slot_entry(name, Slot::Kind::parameter);
  check_defined(value, "parameter", name);
  check<ValueError>(value.is_leaf(), "parameter \"", name,
                    "\": has autograd history; register a leaf");
  check(!requires_grad || is_differentiable(value.dtype()), "parameter \"", name,
        "\": has no gradient; got ", value.dtype(),
        ", expected a floating or complex dtype, or requires_grad off");
  auto slot = std::make_shared<Slot>();
  slot->name = full_name(name);
  slot->set_requires_grad(requires_grad);
  slot->put(value);
  put_slot(entry, std::move(slot));
  added.keep();
  return Parameter(entry);
}

Parameter Module::register_parameter(const std::string& name, std::nullptr_t) {
  const SlotEntryPtr entry = slot_entry(name, Slot::Kind::parameter);
  entry->slot = nullptr;
  return Parameter(entry);
}

Buffer Module::register_buffer(const std::string& name, const Tensor& value, bool persistent) {
  NewName added(slots_);
  const SlotEntryPtr entry = slot_entry(name, Slot::Kind::buffer);
  check_defined(value, "buffer", name);
  put_slot(entry, make_buffer_slot(full_name(name), value, persistent));
  added.keep();
  return Buffer(entry);
}

Buffer Module::register_buffer(const std::string& name, std::nullptr_t, bool persistent) {
  static_cast<void>(persistent);  // nothing is saved under a reserved name
  NewName added(slots_);
  const SlotEntryPtr entry = slot_entry(name, Slot::Kind::buffer);
  put_slot(entry, nullptr);
  added.keep();
  return Buffer(entry);
}

void Module::set(std::string_view name, std::nullptr_t) {
  check_known(name);
  if (const SlotEntryPtr entry = find_slot(name)) {
    put_slot(entry, nullptr);
  } else {
    put_child(find_child(name), nullptr);
  }
}

void Module::erase(std::string_view name) {
  check_known(name);
  if (const SlotEntryPtr entry = find_slot(name)) {
    entry->slot = nullptr;  // members that were declared under it hold nothing
    std::erase(slots_, entry);
  } else {
    const ChildEntryPtr child = find_child(name);
    disown(std::exchange(child->module, nullptr));
    std::erase(children_, child);
    children_changed();
  }
}

}  // namespace tessera::nn
