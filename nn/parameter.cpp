#include <tessera/nn/parameter.h>

#include <tessera/nn/module.h>

namespace tessera::nn {

Parameter::Parameter(Module* owner, std::string_view name, const Shape& shape,
                     Initializer initializer, DType dtype)
    : slot_(std::make_shared<Slot>()) {
  slot_->shape = shape;
  slot_->dtype = dtype;
  slot_->initializer = std::move(initializer);
  owner->register_slot(name, slot_);
}

void Parameter::tie(Module* owner, const Parameter& other) {
  check(shape() == other.shape(), "tie: shapes differ; got ", shape(), " and ", other.shape());
  owner->replace_slot(slot_, other.slot_);
  slot_ = other.slot_;
}

Buffer::Buffer(Module* owner, std::string_view name, const Tensor& value, bool persistent)
    : slot_(std::make_shared<Slot>()) {
  slot_->kind = Slot::Kind::buffer;
  slot_->persistent = persistent;
  slot_->requires_grad = false;
  slot_->shape = value.shape();
  slot_->dtype = value.dtype();
  slot_->value = value;
  owner->register_slot(name, slot_);
}

}  // namespace tessera::nn
