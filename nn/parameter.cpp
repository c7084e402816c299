#include <tessera/nn/parameter.h>

#include <algorithm>
#include <utility>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

SlotEntryPtr entry_of(SlotPtr slot, Slot::Kind kind) {
  return std::make_shared<SlotEntry>(slot == nullptr ? "" : slot->name, kind, std::move(slot));
}

/// The entry of a member, which must be the first under its name.
SlotEntryPtr declare(Module& owner, std::string_view name, Slot::Kind kind) {
  SlotEntryPtr entry = detail::slot_entry(owner, name, kind);
  const char* text = kind == Slot::Kind::parameter ? "parameter" : "buffer";
  check<KeyError>(entry->slot == nullptr, text, " name \"", name, "\": already used by a ", text,
                  " of ", owner.class_name());
  return entry;
}

SlotPtr make_slot(std::string_view name, Slot::Kind kind, const Shape& shape,
                  Initializer initializer) {
  auto slot = std::make_shared<Slot>();
  slot->kind = kind;
  slot->set_requires_grad(kind == Slot::Kind::parameter);
  slot->name = name;
  slot->shape = shape;
  slot->initializer = std::move(initializer);
  return slot;
}

/// The slot of a name that is more than reserved.
const SlotPtr& slot_of(const SlotEntryPtr& entry, const char* kind) {
  check<AttributeError>(entry != nullptr, kind, ": no module has declared it");
  check<AttributeError>(entry->slot != nullptr, kind, " \"", entry->name, "\": the name holds no ",
                        kind);
  return entry->slot;
}

void give_shape(Slot& slot, const Shape& shape) {
  const bool fits = std::ranges::equal(
      slot.shape, shape,
      [](std::int64_t known, std::int64_t size) { return known == kInferred || known == size; });
  check<RuntimeError>(fits, '"', slot.name, "\": cannot take the shape ", shape, "; it has ",
                      slot.shape);
  slot.shape = shape;
}

std::ostream& print_list(std::ostream& out, const auto& list) {
  const char* before = "[";
  for (const auto& x : list) {
    out << std::exchange(before, ", ") << x;
  }
  return out << (list.empty() ? "[]" : "]");
}

}  // namespace

Parameter::Parameter(SlotPtr slot) : entry_(entry_of(std::move(slot), Slot::Kind::parameter)) {}

Parameter::Parameter(Module* owner, std::string_view name, const Shape& shape,
                     Initializer initializer, std::optional<DType> dtype)
    : entry_(declare(*owner, name, Slot::Kind::parameter), true) {
  SlotPtr slot = make_slot(detail::full_name(*owner, name), Slot::Kind::parameter, shape,
                           std::move(initializer));
  slot->own_dtype = dtype.has_value();
  slot->dtype = dtype.value_or(owner->dtype());
  detail::put_slot(*owner, entry_, std::move(slot));
}

const SlotPtr& Parameter::held() const {
  return slot_of(entry_, "parameter");
}

Tensor Parameter::grad() const {
  const Tensor& value = held()->value;
  return value.defined() ? value.grad() : Tensor();
}

const Parameter& Parameter::requires_grad_(bool on) const {
  held()->set_requires_grad(on);
  return *this;
}

const Shape& Parameter::shape() const {
  check<RuntimeError>(held()->sized(), '"', name(),
                      "\": uninitialised; the first call of its module tells its shape");
  return slot()->shape;
}

void Parameter::materialize(const Shape& shape) const {
  give_shape(*held(), shape);
}

void Parameter::tie(const Parameter& other) {
  check(shape() == other.shape(), "tie: shapes differ; got ", shape(), " and ", other.shape());
  entry_->slot = other.slot();
}

Parameter parameter_if(bool wanted, Module* owner, std::string_view name, const Shape& shape,
                       Initializer initializer) {
  return wanted ? Parameter(owner, name, shape, std::move(initializer))
                : owner->register_parameter(std::string(name), nullptr);
}

Buffer::Buffer(SlotPtr slot) : entry_(entry_of(std::move(slot), Slot::Kind::buffer)) {}

Buffer::Buffer(Module* owner, std::string_view name, const Tensor& value, bool persistent)
    : entry_(declare(*owner, name, Slot::Kind::buffer), true) {
  detail::put_slot(*owner, entry_,
                   make_buffer_slot(detail::full_name(*owner, name), value, persistent));
}

Buffer::Buffer(Module* owner, std::string_view name, const Shape& shape, Initializer initializer,
               bool persistent)
    : entry_(declare(*owner, name, Slot::Kind::buffer), true) {
  SlotPtr slot =
      make_slot(detail::full_name(*owner, name), Slot::Kind::buffer, shape, std::move(initializer));
  slot->dtype = owner->dtype();
  slot->persistent = persistent;
  detail::put_slot(*owner, entry_, std::move(slot));
}

const SlotPtr& Buffer::held() const {
  return slot_of(entry_, "buffer");
}

void Buffer::materialize(const Shape& shape) const {
  give_shape(*held(), shape);
}

SlotPtr make_buffer_slot(std::string_view name, const Tensor& value, bool persistent) {
  check<TypeError>(value.defined(), "buffer \"", name,
                   "\": not a tensor; nullptr reserves the name");
  auto slot = std::make_shared<Slot>();
  slot->kind = Slot::Kind::buffer;
  slot->name = name;
  slot->persistent = persistent;
  slot->set_requires_grad(value.is_leaf() && value.requires_grad());
  slot->put(value);
  return slot;
}

std::ostream& operator<<(std::ostream& out, const Parameter& x) {
  return out << x.value();
}

std::ostream& operator<<(std::ostream& out, const Buffer& x) {
  return out << x.value();
}

std::ostream& operator<<(std::ostream& out, const std::vector<Parameter>& list) {
  return print_list(out, list);
}

std::ostream& operator<<(std::ostream& out, const std::vector<Buffer>& list) {
  return print_list(out, list);
}

}  // namespace tessera::nn
