#include <tessera/nn/functional/override_frame.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {
namespace {

/// The slot's value, or, where none is kept, a tensor without elements.
Tensor shape_of(const Slot& slot) {
  return slot.value.defined() || !slot.sized()
             ? slot.value
             : empty(slot.shape, {.dtype = slot.dtype, .device = {.type = DeviceType::meta}});
}

}  // namespace

void OverrideFrame::give(const Module& module, Slot::Kind kind, const Variables& values,
                         bool partial) {
  Variables own;
  std::unordered_map<const Slot*, std::string> names;
  for (const auto& [name, slot] : module.named_slots()) {
    if (slot->kind == kind && names.try_emplace(slot.get(), name).second) {
      own.set(name, shape_of(*slot));
    }
  }
  const std::string difference = own.diff(values, {.partial = partial});
  check<StructureError>(difference.empty(), module.class_name(),
                        ": called with other variables than it has\n", difference);
  for (const auto& [slot, name] : names) {
    const Variables* given = values.find(name);
    check<StructureError>(
        partial || given == nullptr || given->leaf().defined() || !own.find(name)->leaf().defined(),
        module.class_name(), ": called with other variables than it has\n", "no value for \"", name,
        '"');
    if (given != nullptr && given->leaf().defined()) {
      values_.emplace(slot, given->leaf());
    }
  }
}

bool OverrideFrame::write(const SlotPtr& slot, const Tensor& value) {
  const auto found = values_.find(slot.get());
  if (found == values_.end()) {
    return false;
  }
  check_assigned(*slot, value);
  found->second = kept_copy(value, found->second.dtype());
  return true;
}

}  // namespace tessera::nn
