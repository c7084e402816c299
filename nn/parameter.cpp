#include <tessera/nn/parameter.h>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

SlotEntryPtr entry_of(SlotPtr slot, Slot::Kind kind) {
  return std::make_shared<SlotEntry>(slot == nullptr ? "" : slot->name, kind, std::move(slot));
}

/// The entry of a member, which must be the first under its name.
SlotEntryPtr declare(Module& owner, std::string_view name, Slot::Kind kind) {
  SlotEntryPtr entry = owner.slot_entry(name, kind);
  const char* text = kind == Slot::Kind::parameter ? "parameter" : "buffer";
  check<KeyError>(entry->slot == nullptr, text, " name \"", name, "\": already used by a ", text,
                  " of ", owner.class_name());
  return entry;
}

}  // namespace

Parameter::Parameter(SlotPtr slot) : entry_(entry_of(std::move(slot), Slot::Kind::parameter)) {}

Parameter::Parameter(Module* owner, std::string_view name, const Shape& shape,
                     Initializer initializer, DType dtype)
    : entry_(declare(*owner, name, Slot::Kind::parameter)) {
  auto slot = std::make_shared<Slot>();
  slot->name = name;
  slot->shape = shape;
  slot->dtype = dtype;
  slot->initializer = std::move(initializer);
  owner->put_slot(entry_, std::move(slot));
}

void Parameter::tie(const Parameter& other) {
  check(shape() == other.shape(), "tie: shapes differ; got ", shape(), " and ", other.shape());
  entry_->slot = other.slot();
}

Buffer::Buffer(SlotPtr slot) : entry_(entry_of(std::move(slot), Slot::Kind::buffer)) {}

Buffer::Buffer(Module* owner, std::string_view name, const Tensor& value, bool persistent)
    : entry_(declare(*owner, name, Slot::Kind::buffer)) {
  owner->put_slot(entry_, make_buffer_slot(name, value, persistent));
}

SlotPtr make_buffer_slot(std::string_view name, const Tensor& value, bool persistent) {
  auto slot = std::make_shared<Slot>();
  slot->kind = Slot::Kind::buffer;
  slot->name = name;
  slot->persistent = persistent;
  slot->requires_grad = false;
  slot->shape = value.shape();
  slot->dtype = value.dtype();
  slot->value = value;
  return slot;
}

}  // namespace tessera::nn
