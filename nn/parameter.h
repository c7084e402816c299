// Members of modules that hold state: declared once, with their name.
//
//   nn::Parameter weight{this, "weight", {out, in}, init::kaiming_uniform()};
//   nn::Buffer mean{this, "running_mean", zeros({n})};
#pragma once

#include <string_view>

#include <tessera/nn/slot.h>

namespace tessera::nn {

class Module;

/// A handle on a trainable tensor of a module. Where a Tensor is wanted it gives its value, as the
/// thread's frames see it.
class Parameter {
 public:
  Parameter() = default;
  explicit Parameter(SlotPtr slot) : slot_(std::move(slot)) {}
  /// Declares a parameter of `owner`. Its value is made when the root model is.
  /// Throws InvalidArgument for a name that is empty, taken, or has a '.' or '/'.
  Parameter(Module* owner, std::string_view name, const Shape& shape, Initializer initializer,
            DType dtype = DType::f32);

  operator Tensor() const { return slot_ == nullptr ? Tensor() : read_slot(*slot_); }
  [[nodiscard]] Tensor value() const { return *this; }
  [[nodiscard]] Tensor grad() const { return slot_->value.grad(); }
  [[nodiscard]] const std::string& name() const { return slot_->name; }
  [[nodiscard]] const Shape& shape() const { return slot_->shape; }
  [[nodiscard]] bool defined() const { return slot_ != nullptr; }
  [[nodiscard]] const SlotPtr& slot() const { return slot_; }
  /// Makes this name one more for the slot of `other`: tied weights. Throws InvalidArgument for
  /// another shape.
  void tie(Module* owner, const Parameter& other);

 private:
  SlotPtr slot_;
};

/// A handle on state that is not trained.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(SlotPtr slot) : slot_(std::move(slot)) {}
  /// Declares a buffer of `owner`. Non-persistent ones are left out of the state dict.
  Buffer(Module* owner, std::string_view name, const Tensor& value, bool persistent = true);

  operator Tensor() const { return read_slot(*slot_); }
  /// Changes the value: the only way to change state inside `forward`.
  void assign(const Tensor& value) const { write_slot(slot_, value); }
  [[nodiscard]] const SlotPtr& slot() const { return slot_; }

 private:
  SlotPtr slot_;
};

}  // namespace tessera::nn
