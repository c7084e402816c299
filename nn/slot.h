// Slots: the identity of one piece of a module's state.
//
// Names point to slots; two names for one slot are tied weights. A slot stays the same through
// casts, moves, sharding and loading, so optimizers and ties stay valid.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tessera/core/base/philox.h>
#include <tessera/core/tensor/box.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

class Ownership;   // nn/ownership.h
class BufferStep;  // nn/buffer_step.h

/// Fills what a rank holds of a fresh parameter. Null by default.
class Initializer {
 public:
  /// Writes to all elements of `value`, which lies on the host.
  using Fill = std::function<void(const Tensor& value, const Box& box, const RandomStream& stream)>;

  Initializer() = default;
  template <class F>
  requires(!std::same_as<F, Initializer> && std::convertible_to<F, Fill>) Initializer(F fill)
      : fill_(std::move(fill)) {}

  /// Gives `value`, dense and of shape `box.shape`, on any device, the elements in `box` of the
  /// whole. Element i of the whole takes its randomness from element i of `stream` alone, so that
  /// any box can be made by itself. Throws InvalidArgument for another shape or strides.
  void operator()(const Tensor& value, const Box& box, const RandomStream& stream) const;
  explicit operator bool() const noexcept { return fill_ != nullptr; }

 private:
  Fill fill_;
};

/// A size that a layer takes from its first input.
inline constexpr std::int64_t kInferred = -1;

struct Slot : std::enable_shared_from_this<Slot> {
  enum class Kind : std::uint8_t { parameter, buffer };

  Kind kind = Kind::parameter;
  bool persistent = true;  ///< buffers: part of the state dict
  /// Full name in the tree: by the modules' first parents, and of several names the first.
  std::string name;
  Shape shape;  ///< with kInferred for what the first call tells
  DType dtype = DType::f32;
  bool own_dtype = false;  ///< as declared; else the module's, when it is built
  bool stored = true;      ///< false: built with ModuleOptions::store_vars off
  Initializer initializer;
  Tensor value;  ///< undefined until the module is built; replaced by `put` alone
  std::shared_ptr<Ownership> ownership;  ///< of the ranks that train it; null when alone
  std::shared_ptr<BufferStep> step;  ///< buffers: values assigned in the step under way, or null

  /// Whether no size is kInferred.
  [[nodiscard]] bool sized() const;
  /// Whether it is trained: the value's own flag or, while there is none or an op computed it, what
  /// was declared.
  [[nodiscard]] bool requires_grad() const;
  /// Throws InvalidArgument as `check_can_require`.
  void set_requires_grad(bool on);
  /// Throws InvalidArgument naming the slot where the value was computed, or, to turn it on, where
  /// its dtype has no gradients.
  void check_can_require(bool on) const;
  /// An optimizer's step puts the update off to the last pass of the training step: whoever uses
  /// the value in this pass would take the old one for the new, and gets RuntimeError instead.
  void put_off_update();
  /// Drops the gradient, which an update that is put off still needs: then the step that makes it
  /// does.
  void drop_grad() const;
  /// Puts `fresh`, a tensor of its own, in the place of the value. Shape and dtype become its; what
  /// was said of the old value stays: whether it is trained, where the dtype has gradients, and the
  /// hooks on its gradient. A computed tensor stays as it is.
  void put(Tensor fresh);

 private:
  /// Tells the value's leaf whose it is, so that errors about its gradient name the slot.
  void name_leaf() const;

  bool declared_requires_grad_ = true;
};

using SlotPtr = std::shared_ptr<Slot>;

/// What `slot` holds, as the thread's frames (nn/functional/frame.h) see it. While activation
/// checkpointing repeats a forward, what the forward read. Throws RuntimeError saying why there is
/// no value.
[[nodiscard]] Tensor read_slot(const Slot& slot);
/// Why `slot` has no value, and what gives it one.
[[nodiscard]] const char* why_without_value(const Slot& slot);
/// Gives `slot` a new value, through the thread's frames; without one a detached copy of it is
/// stored, in the slot's dtype. In a training step of several microbatches a buffer's value is kept
/// until the step ends, see nn/buffer_step.h; while activation checkpointing repeats a forward,
/// nothing is written. Throws InvalidArgument for another shape, ValueError in a pure call of a
/// module that does not hold the slot.
void write_slot(const SlotPtr& slot, const Tensor& value);
/// A copy of `value` in `dtype` that a slot keeps: with its history, where ops are recorded, and as
/// free to go on a tape as `value` is, whatever InferenceGuard there is.
[[nodiscard]] Tensor kept_copy(const Tensor& value, DType dtype);
/// Throws InvalidArgument unless `value` has the slot's shape, or, in a step of several
/// microbatches, holds one of those for each, stacked.
void check_assigned(const Slot& slot, const Tensor& value);

/// Throws ValueError, beginning with `what`, that names two of `slots` whose values lie in the
/// same memory, although neither is tied to the other: an update would come to them twice.
void check_apart(const char* what, std::span<const Slot* const> slots);

}  // namespace tessera::nn
