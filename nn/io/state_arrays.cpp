#include <tessera/nn/io/state_arrays.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/io/value_bytes.h>

namespace tessera::nn {
namespace {

std::string slashed(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

}  // namespace

std::map<std::string, const Slot*> slots_by_name(const Module& module) {
  std::map<std::string, const Slot*> slots;
  for (const auto& [name, slot] : module.named_slots()) {
    slots.emplace(name, slot.get());
  }
  return slots;
}

std::vector<std::pair<std::string, HasExtraState*>> named_extra_states(const Module& module) {
  std::vector<std::pair<std::string, HasExtraState*>> found;
  for (const auto& [name, below] : detail::all_modules(module)) {
    if (auto* extra = dynamic_cast<HasExtraState*>(below)) {
      found.emplace_back((name.empty() ? name : name + ".") + std::string(kExtraState), extra);
    }
  }
  return found;
}

void visit_state(const Module& module,
                 const std::function<void(const std::string& name, const Value& value,
                                          const Slot* slot)>& visit) {
  const std::map<std::string, const Slot*> slots = slots_by_name(module);
  for (const auto& [name, value] : module.state_dict()) {
    const auto found = slots.find(name);
    visit(name, value, found == slots.end() ? nullptr : found->second);
  }
}

bool add_state(OutgoingArrays& arrays, const std::string& path, const std::string& name,
               const Value& value, const Slot* slot, bool transposed) {
  if (is_extra_state(name)) {
    arrays.add_value(path, value, name);
    return false;
  }
  check<TypeError>(value.is<Tensor>(), "save: \"", name, "\": not a tensor");
  if (slot != nullptr) {
    return arrays.add(path, value.tensor(), *slot, transposed);
  }
  arrays.add(path, transposed ? transpose(value.tensor().detach()) : value.tensor());
  return false;
}

Value state_value(const std::string& name, const Tensor& array, const std::string& what) {
  if (!is_extra_state(name) || array.dtype() != DType::u8) {
    return array;
  }
  return value_from_bytes({static_cast<const std::byte*>(array.raw_data()), array.nbytes()}, what);
}

StateArrays::StateArrays(const Module& module, Format format, const NameMap& names,
                         WeightsScope scope)
    : format_(format), names_(names) {
  visit_state(module, [&](const std::string& name, const Value& value, const Slot* slot) {
    const bool parameter = slot != nullptr && slot->kind == Slot::Kind::parameter;
    if (parameter || scope == WeightsScope::persistent) {
      add(name, value, slot);
    }
  });
  if (format == Format::hdf5) {
    attribute("", kWeightsFormatAttribute, kWeightsFormat);
  } else {
    attribute("", "format", std::string("pt"));  // some readers insist on it
  }
  if (format == Format::hdf5 && names.rules.empty()) {
    describe_modules(module);
  }
}

std::string StateArrays::path_of(const std::string& name) const {
  return format_ == Format::hdf5 ? slashed(name) : name;
}

void StateArrays::add(const std::string& name, const Value& value, const Slot* slot) {
  const NameMap::Mapped mapped = names_(name);
  if (mapped.name.empty()) {
    return;
  }
  check<ValueError>(!mapped.transpose || !value.is<Tensor>() || value.tensor().ndim() == 2,
                    "save: \"", name, "\" is to be transposed; got shape ",
                    value.is<Tensor>() ? value.tensor().shape() : Shape{}, ", expected two dims");
  const std::string path = path_of(mapped.name);
  if (add_state(arrays_, path, name, value, slot, mapped.transpose)) {
    describe(path, *slot);
  }
}

void StateArrays::describe(const std::string& path, const Slot& slot) {
  if (format_ != Format::hdf5) {
    return;
  }
  const bool parameter = slot.kind == Slot::Kind::parameter;
  attribute(path, "kind", std::string(parameter ? "parameter" : "buffer"));
  attribute(path, "requires_grad", std::int64_t{parameter && slot.requires_grad()});
}

void StateArrays::describe_modules(const Module& module) {
  for (const auto& [name, below] : module.named_modules(nullptr, "", false)) {
    const std::string path = slashed(name);
    if (!path.empty()) {
      arrays_.contents().groups.push_back(path);
    }
    attribute(path, kClassAttribute, below->class_name());
    attribute(path, kStateVersionAttribute, std::int64_t{below->state_version()});
  }
}

}  // namespace tessera::nn
