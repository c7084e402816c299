// What a Tensor handle points to: the face of tensors towards ops, kernels and autograd.
#pragma once

#include <memory>

#include <tessera/core/base/pooled.h>
#include <tessera/core/base/ref.h>
#include <tessera/core/tensor/cut.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/shape.h>
#include <tessera/core/tensor/storage.h>

namespace tessera {

struct AutogradMeta;  // core/autograd/meta.h

struct TensorImpl : RefCounted, Pooled<TensorImpl> {
  TensorImpl(Ref<Storage> memory, const Shape& dims, DType element, Device where);
  ~TensorImpl();

  Ref<Storage> storage;  ///< null on the meta device
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;  ///< elements from the storage's start
  DType dtype;
  Device device;
  Cut cut;
  bool inference = false;                  ///< made under InferenceGuard: never on a tape
  bool untracked_view = false;             ///< a view made while nothing was recorded
  bool untracked_gradient = false;         ///< such a view of what required a gradient
  bool boundary = false;                   ///< shows what core/autograd/boundary.h watches
  bool read_only = false;                  ///< a buffer's value that only `assign` changes
  bool number = false;                     ///< stands for a C++ number: has a kind but no width
  Ref<TensorImpl> base;                    ///< of a view: the tensor, no view itself, it shows
  std::unique_ptr<AutogradMeta> autograd;  ///< null for plain tensors

  [[nodiscard]] std::int64_t numel() const noexcept { return numel_of(shape); }
  [[nodiscard]] bool contiguous() const noexcept { return is_contiguous(shape, strides); }
  /// First element. Kernels only: waits for nothing.
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return reinterpret_cast<T*>(storage->data()) + offset;
  }
};

}  // namespace tessera
