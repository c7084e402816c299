// What a Tensor handle points to: the face of tensors towards ops, kernels and autograd.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <tessera/core/base/pooled.h>
#include <tessera/core/base/ref.h>
#include <tessera/core/device/storage.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/microbatch_layout.h>
#include <tessera/core/tensor/shape.h>
#include <tessera/core/tensor/stage.h>

namespace tessera {

struct AutogradMeta;  // core/autograd/meta.h
struct LossCounts;    // core/tensor/loss_counts.h

/// Deletes what only the tape knows.
struct LeaveTape {
  void operator()(AutogradMeta* meta) const noexcept;
};

struct TensorImpl : RefCounted, Pooled<TensorImpl> {
  TensorImpl(Ref<Storage> memory, const Shape& dims, DType element, Device where);
  ~TensorImpl();

  Ref<Storage> storage;  ///< null on the meta device
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;  ///< elements from the storage's start
  DType dtype;
  Device device;
  bool inference = false;           ///< made under InferenceGuard: never on a tape
  bool untracked_view = false;      ///< a view made while nothing was recorded
  bool untracked_gradient = false;  ///< such a view of what required a gradient
  bool boundary = false;            ///< shows what core/autograd/boundary.h watches
  bool read_only = false;           ///< a buffer's value that only `assign` changes
  bool number = false;              ///< stands for a C++ number: has a kind but no width

 private:
  Stages stages_;
  std::atomic<bool> wants_gradient_ = false;
  MicrobatchLayout microbatches_;

 public:
  /// Recorded writes to the tensor; of a view: to its base, as far as its place on the tape knows.
  /// Stored last of what a view learns anew: who reads the base's sees all of it.
  std::atomic<std::uint32_t> epoch = 0;
  Ref<TensorImpl> base;  ///< of a view: the tensor, no view itself, it shows
  std::unique_ptr<AutogradMeta, LeaveTape> autograd;  ///< its place on the tape; null for none

  [[nodiscard]] std::int64_t numel() const noexcept { return numel_of(shape); }
  [[nodiscard]] bool contiguous() const noexcept { return is_contiguous(shape, strides); }
  /// First element. Kernels only: waits for nothing.
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return reinterpret_cast<T*>(storage->data()) + offset;
  }

  /// What a call with the tensor goes through before it runs.
  [[nodiscard]] Stages stages() const noexcept { return stages_; }

  [[nodiscard]] const MicrobatchLayout& microbatches() const noexcept { return microbatches_; }
  void set_microbatches(const MicrobatchLayout& layout) noexcept {
    microbatches_ = layout;
    stages_.set(Stage::split, static_cast<bool>(layout));
  }
  void set_over(OverPass over) noexcept { microbatches_.over = over; }

  /// Whether gradients flow to or through the tensor, as far as a view knows of writes to its base.
  [[nodiscard]] bool wants_gradient() const noexcept {
    return wants_gradient_.load(std::memory_order_relaxed);
  }
  void set_wants_gradient(bool on) noexcept {
    wants_gradient_.store(on, std::memory_order_relaxed);
    settle_stages();
  }
  /// To be called after a change of `base`, `boundary` or `untracked_gradient`: a write to such a
  /// tensor concerns the tape.
  void settle_stages() noexcept {
    const bool concerned = wants_gradient() || base || boundary || untracked_gradient;
    if (stages_.has(Stage::record) != concerned) {  // other threads may read it
      stages_.set(Stage::record, concerned);
    }
  }

  /// The counts of a loss that is a mean over counted elements; null for others.
  [[nodiscard]] const Ref<const LossCounts>& counts() const noexcept { return counts_; }
  void set_counts(Ref<const LossCounts> counts) noexcept;

 private:
  Ref<const LossCounts> counts_;
};

}  // namespace tessera
