// A tree of modules as one value and its checksum: {module, slots, extra_state}.
//
// module: {class, config, training, waiting, children}, where children holds for each name a
// module, nothing, or the number of a module that came before, and waiting what one that waits for
// its first call will be made from, else nothing. slots: each once, with all its names.
#include <tessera/nn/state/serialize.h>

#include <map>

#include <tessera/core/base/error.h>
#include <tessera/core/base/mapped.h>
#include <tessera/nn/build/module_options.h>
#include <tessera/nn/io/sealed_bytes.h>
#include <tessera/nn/io/value_bytes.h>
#include <tessera/nn/state/class_registry.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

/// What the values of a module that waits for its first call follow from.
Value waiting_value(const Module& module) {
  if (!detail::waits_for_call(module)) {
    return {};
  }
  const std::optional<DType> dtype = detail::options_of(module).dtype;
  const detail::BuildState& build_state = detail::build_state_of(module);
  const std::optional<std::uint64_t>& key = build_state.model_key;
  return Value::Map{{"dtype", dtype ? Value(std::string(to_string(*dtype))) : Value()},
                    {"model", key ? Value(static_cast<std::int64_t>(*key)) : Value()},
                    {"path", build_state.path}};
}

class Tree {
 public:
  Value node(const Module& module) {
    if (const auto known = numbers_.find(&module); known != numbers_.end()) {
      return known->second;
    }
    numbers_.emplace(&module, static_cast<std::int64_t>(numbers_.size()));
    Value::Map children;
    for (const ChildEntryPtr& child : detail::child_entries(module)) {
      children.set(child->name, child->module == nullptr ? Value() : node(*child->module));
    }
    return Value::Map{{"class", detail::name_in_bytes(module)},
                      {"config", detail::config_of(module)},
                      {"training", module.training()},
                      {"waiting", waiting_value(module)},
                      {"children", std::move(children)}};
  }

 private:
  std::map<const Module*, std::int64_t> numbers_;
};

Value shape_value(const Shape& shape) {
  return mapped(shape, [](std::int64_t size) { return Value(size); });
}

Value slot_value(const Slot& slot, Value::List names) {
  return Value::Map{{"names", std::move(names)},
                    {"parameter", slot.kind == Slot::Kind::parameter},
                    {"persistent", slot.persistent},
                    {"requires_grad", slot.requires_grad()},
                    {"dtype", std::string(to_string(slot.dtype))},
                    {"own_dtype", slot.own_dtype},
                    {"shape", shape_value(slot.shape)},
                    {"value", slot.value.defined() ? Value(slot.value.detach()) : Value()}};
}

Value slots_value(const Module& module) {
  std::vector<const Slot*> order;
  std::map<const Slot*, Value::List> names;
  for (const auto& [name, slot] : module.named_slots()) {
    if (names[slot.get()].empty()) {
      order.push_back(slot.get());
    }
    names[slot.get()].emplace_back(name);
  }
  return mapped(order, [&](const Slot* slot) { return slot_value(*slot, names[slot]); });
}

Value extra_states(const Module& module) {
  Value::Map states;
  for (const auto& [name, below] : module.named_modules()) {
    if (const auto* extra = dynamic_cast<const HasExtraState*>(below)) {
      states.set(name, extra->get_extra_state());
    }
  }
  return states;
}

}  // namespace

std::vector<std::byte> serialize(const Module& module) {
  if (detail::registered_class(module) == nullptr) {
    detail::fail_unregistered("serialize", module.class_name());
  }
  return seal(to_bytes(Value::Map{{"module", Tree().node(module)},
                                  {"slots", slots_value(module)},
                                  {"extra_state", extra_states(module)}}));
}

}  // namespace tessera::nn
