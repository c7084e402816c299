// Members of modules that hold state: declared once, with their name.
//
//   nn::Parameter weight{this, "weight", {out, in}, init::kaiming_uniform()};
//   nn::Buffer mean{this, "running_mean", zeros({n})};
#pragma once

#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include <tessera/nn/slot.h>
#include <tessera/nn/tree/entry_handle.h>

namespace tessera::nn {

class Module;

/// A handle on a trainable tensor of a module. Where a Tensor is wanted it gives its value, as the
/// thread's frames see it. A module's member follows its name: what the name is given later is what
/// it reads, and assigning it the handle of another name throws RuntimeError.
class Parameter : public StandsForTensor {
 public:
  Parameter() = default;
  explicit Parameter(const Tensor&) = delete;    // register_parameter(name, value)
  Parameter& operator=(const Tensor&) = delete;  // off the tape: weight.value().copy_(other)
  explicit Parameter(SlotPtr slot);
  explicit Parameter(SlotEntryPtr entry) : entry_(std::move(entry)) {}
  /// Declares a parameter of `owner`, whose value is made when that is built; sizes may be
  /// kInferred until then. Without a `dtype` it has its owner's. Throws KeyError for a name that is
  /// empty, taken, or has a '.' or '/'.
  Parameter(Module* owner, std::string_view name, const Shape& shape, Initializer initializer,
            std::optional<DType> dtype = {});
  Parameter(Module*, const Shape&, Initializer, std::optional<DType> = {}) = delete;  // has no name
  Parameter(Module*, std::string_view, const Shape&) = delete;   // no values: init::constant(0)
  Parameter(Module*, std::string_view, const Tensor&) = delete;  // register_parameter(name, value)

  operator Tensor() const { return defined() ? read_slot(*slot()) : Tensor(); }
  explicit operator bool() const = delete;  // no condition: item<bool>(), any, all or defined()
  // What follows, but for `defined`, throws AttributeError where the name is only reserved.
  [[nodiscard]] Tensor value() const { return read_slot(*held()); }
  /// Undefined where none was computed.
  [[nodiscard]] Tensor grad() const;
  /// Whether backward computes its gradient and optimizers update it: its tensor's own flag, which
  /// casts, moves, copies and loading keep.
  [[nodiscard]] bool requires_grad() const { return held()->requires_grad(); }
  /// Trains it from now on, or freezes it. Throws InvalidArgument for a dtype without gradients.
  const Parameter& requires_grad_(bool on = true) const;
  [[nodiscard]] const std::string& name() const { return held()->name; }
  /// Throws RuntimeError while a size is kInferred.
  [[nodiscard]] const Shape& shape() const;
  /// The shape as far as it is known, with kInferred for what the first call tells.
  [[nodiscard]] const Shape& declared_shape() const { return held()->shape; }
  [[nodiscard]] bool is_uninitialized() const { return defined() && !slot()->sized(); }
  /// Tells, in `do_build`, the sizes that were kInferred. Throws RuntimeError for a shape that
  /// differs in another.
  void materialize(const Shape& shape) const;
  [[nodiscard]] bool defined() const { return entry_ != nullptr && entry_->slot != nullptr; }
  [[nodiscard]] const SlotPtr& slot() const { return entry_->slot; }
  /// Makes this name one more for the slot of `other`: tied weights. Throws InvalidArgument for
  /// another shape.
  void tie(const Parameter& other);

 private:
  [[nodiscard]] const SlotPtr& held() const;

  detail::EntryHandle entry_;
};

/// A handle on state that is not trained.
class Buffer : public StandsForTensor {
 public:
  Buffer() = default;
  Buffer& operator=(const Tensor&) = delete;  // to change its value: buffer.assign(other)
  explicit Buffer(SlotPtr slot);
  explicit Buffer(SlotEntryPtr entry) : entry_(std::move(entry)) {}
  /// Declares a buffer of `owner`. Non-persistent ones are left out of the state dict.
  Buffer(Module* owner, std::string_view name, const Tensor& value, bool persistent = true);
  /// A buffer with a value that is made when `owner` is built, as a parameter's is.
  Buffer(Module* owner, std::string_view name, const Shape& shape, Initializer initializer,
         bool persistent = true);
  Buffer(Module*, const Tensor&, bool = true) = delete;      // has no name
  Buffer(Module*, std::string_view, const Shape&) = delete;  // no value: zeros(shape)

  explicit operator bool() const = delete;  // no condition: item<bool>(), any, all or defined()
  operator Tensor() const { return defined() ? read_slot(*slot()) : Tensor(); }
  /// Throws AttributeError where the name is only reserved.
  [[nodiscard]] Tensor value() const { return read_slot(*held()); }
  [[nodiscard]] bool defined() const { return entry_ != nullptr && entry_->slot != nullptr; }
  /// Tells the sizes that were kInferred; see Parameter::materialize.
  void materialize(const Shape& shape) const;
  /// Changes the value: the only way to change state inside `forward`. Throws AttributeError where
  /// the name is only reserved.
  void assign(const Tensor& value) const { write_slot(held(), value); }
  [[nodiscard]] const SlotPtr& slot() const { return entry_->slot; }

 private:
  [[nodiscard]] const SlotPtr& held() const;

  detail::EntryHandle entry_;
};

/// A parameter of `owner` where it is `wanted`; else undefined, and its name is only reserved.
[[nodiscard]] Parameter parameter_if(bool wanted, Module* owner, std::string_view name,
                                     const Shape& shape, Initializer initializer);

/// Prints the value as that of a tensor.
std::ostream& operator<<(std::ostream& out, const Parameter& x);
std::ostream& operator<<(std::ostream& out, const Buffer& x);
/// Prints the values as Python prints a list of tensors.
std::ostream& operator<<(std::ostream& out, const std::vector<Parameter>& list);
std::ostream& operator<<(std::ostream& out, const std::vector<Buffer>& list);

/// A slot that holds `value` itself.
[[nodiscard]] SlotPtr make_buffer_slot(std::string_view name, const Tensor& value, bool persistent);

}  // namespace tessera::nn
