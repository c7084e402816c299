// How the tape keeps tensors that gradients will read.
#pragma once

#include <memory>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// What a pack hook made of a tensor; unpacked when a gradient needs it.
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  [[nodiscard]] virtual Tensor unpack() = 0;
};

/// Replaces keeping tensors by something else, for a scope: recomputation, offload to host memory,
/// freeing gathered weights. Installed by SavedTensorHooksScope.
class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  /// Null keeps the tensor as it is.
  [[nodiscard]] virtual std::unique_ptr<PackedTensor> pack(const Tensor& tensor) = 0;
};

/// Makes `hooks` decide how tensors are saved by ops recorded on this thread while it lives.
class SavedTensorHooksScope {
 public:
  explicit SavedTensorHooksScope(SavedTensorHooks& hooks);
  ~SavedTensorHooksScope();
  SavedTensorHooksScope(const SavedTensorHooksScope&) = delete;
  SavedTensorHooksScope& operator=(const SavedTensorHooksScope&) = delete;

 private:
  SavedTensorHooks* previous_;
};

/// A tensor on the tape, with the version it had: a write in between is an error, not a wrong
/// gradient.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor);
  /// Keeps it, whatever hooks there are.
  [[nodiscard]] static SavedTensor as_it_is(const Tensor& tensor);

  /// The tensor. Throws InvalidArgument naming `op` when it was written to since.
  [[nodiscard]] Tensor unpack(const char* op) const;
  /// True when nobody has written to it since.
  [[nodiscard]] bool is_intact() const;
  [[nodiscard]] bool defined() const noexcept { return tensor_.defined() || packed_ != nullptr; }
  /// True when hooks decided how it is kept.
  [[nodiscard]] bool is_packed() const noexcept { return packed_ != nullptr; }
  void reset() {
    tensor_ = Tensor();
    packed_.reset();
  }

 private:
  Tensor tensor_;
  std::unique_ptr<PackedTensor> packed_;
  std::uint32_t version_ = 0;
};

}  // namespace tessera
