#include <tessera/nn/io/state_arrays.h>

#include <algorithm>
#include <map>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/io/value_bytes.h>

namespace tessera::nn {
namespace {

std::map<std::string, const Slot*> slots_by_name(const Module& module) {
  std::map<std::string, const Slot*> slots;
  for (const auto& [name, slot] : module.named_slots()) {
    slots.emplace(name, slot.get());
  }
  return slots;
}

std::string slashed(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

Tensor transposed(const std::string& name, const Tensor& value) {
  check<ValueError>(value.shape().size() == 2, "save: \"", name,
                    "\" is to be transposed; got shape ", value.shape(), ", expected two dims");
  return transpose(value);
}

}  // namespace

StateArrays::StateArrays(const Module& module, Format format, const NameMap& names,
                         WeightsScope scope)
    : format_(format), names_(names) {
  const std::map<std::string, const Slot*> slots = slots_by_name(module);
  for (const auto& [name, value] : module.state_dict()) {
    const auto found = slots.find(name);
    const Slot* slot = found == slots.end() ? nullptr : found->second;
    const bool parameter = slot != nullptr && slot->kind == Slot::Kind::parameter;
    if (parameter || scope == WeightsScope::persistent) {
      add(name, value, slot);
    }
  }
  if (format == Format::hdf5) {
    contents_.attributes.push_back({"", kWeightsFormatAttribute, kWeightsFormat});
  } else {
    contents_.attributes.push_back({"", "format", std::string("pt")});  // some readers insist on it
  }
  if (format == Format::hdf5 && names.rules.empty()) {
    describe_modules(module);
  }
}

std::string StateArrays::path_of(const std::string& name) const {
  return format_ == Format::hdf5 ? slashed(name) : name;
}

void StateArrays::add(const std::string& name, const Value& value, const Slot* slot) {
  if (is_extra_state(name)) {
    add_extra_state(name, value);
    return;
  }
  check<TypeError>(value.is<Tensor>(), "save: \"", name, "\": not a tensor");
  add_tensor(name, value.tensor(), slot);
}

void StateArrays::add_tensor(const std::string& name, const Tensor& value, const Slot* slot) {
  check<NotImplementedError>(value.device().type != DeviceType::meta, "save: \"", name,
                             "\": tensor has no data (meta); use to_empty()");
  const NameMap::Mapped mapped = names_(name);
  if (mapped.name.empty()) {
    return;
  }
  const std::string path = path_of(mapped.name);
  const auto first = std::ranges::find_if(written_, [&](const Written& written) {
    return slot != nullptr && written.slot == slot && written.data == value.raw_data() &&
           written.transposed == mapped.transpose;
  });
  if (first != written_.end()) {
    contents_.arrays.push_back(alias_of(first->path, path));
    return;
  }
  const Tensor& kept = tensors_.emplace_back(
      contiguous(mapped.transpose ? transposed(name, value.detach()) : value.detach()));
  contents_.arrays.push_back({path, kept.dtype(), kept.shape(), kept.raw_data(), ""});
  if (slot != nullptr) {
    written_.push_back({slot, value.raw_data(), mapped.transpose, path});
    describe(path, *slot);
  }
}

void StateArrays::add_extra_state(const std::string& name, const Value& value) {
  const std::string path = path_of(names_(name).name);
  if (path.empty()) {
    return;
  }
  try {
    const auto& bytes = bytes_.emplace_back(to_bytes(value));
    contents_.arrays.push_back(
        {path, DType::u8, {static_cast<std::int64_t>(bytes.size())}, bytes.data(), ""});
  } catch (const Unsupported& error) {
    fail<Unsupported>("save: \"", name, "\": ", error.what());
  }
}

void StateArrays::describe(const std::string& path, const Slot& slot) {
  if (format_ != Format::hdf5) {
    return;
  }
  const bool parameter = slot.kind == Slot::Kind::parameter;
  contents_.attributes.push_back({path, "kind", std::string(parameter ? "parameter" : "buffer")});
  contents_.attributes.push_back(
      {path, "requires_grad", std::int64_t{parameter && slot.requires_grad()}});
}

void StateArrays::describe_modules(const Module& module) {
  for (const auto& [name, below] : module.named_modules(nullptr, "", false)) {
    const std::string path = slashed(name);
    if (!path.empty()) {
      contents_.groups.push_back(path);
    }
    contents_.attributes.push_back({path, kClassAttribute, below->class_name()});
    contents_.attributes.push_back(
        {path, kStateVersionAttribute, std::int64_t{below->state_version()}});
  }
}

}  // namespace tessera::nn
