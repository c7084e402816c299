// The autograd part of a tensor, absent from plain ones.
#pragma once

#include <atomic>
#include <memory>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/node.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The leaf node of a tensor, made when somebody first asks for it, on whichever thread.
class LeafHolder {
 public:
  LeafHolder() = default;
  LeafHolder(const LeafHolder& other) : leaf_(other.get()) { retain(); }
  LeafHolder& operator=(const LeafHolder&) = delete;
  ~LeafHolder();

  /// Null while nobody asked.
  [[nodiscard]] LeafNode* get() const noexcept { return leaf_.load(std::memory_order_acquire); }
  [[nodiscard]] LeafNode& get_or_make(const TensorImpl& of);

 private:
  void retain() const noexcept;

  std::atomic<LeafNode*> leaf_ = nullptr;
};

/// Where a tensor that wants a gradient stands on the tape.
struct AutogradMeta : Pooled<AutogradMeta> {
  LeafHolder leaf;           ///< of a leaf that somebody asked for
  Ref<OpNode> producer;      ///< the recorded op that computed the tensor, null for leaves
  std::uint32_t output = 0;  ///< which of its outputs this is
};

/// The place of `x`, made where it has none.
[[nodiscard]] inline AutogradMeta& meta_of(TensorImpl& x) {
  if (x.autograd == nullptr) {
    x.autograd.reset(new AutogradMeta);
  }
  return *x.autograd;
}

/// Makes output `output` of `producer` the place of `x`.
inline void set_producer(TensorImpl& x, Ref<OpNode> producer, std::uint32_t output) {
  AutogradMeta& meta = meta_of(x);
  meta.producer = std::move(producer);
  meta.output = output;
  x.set_wants_gradient(true);
}

/// Gives `to` the place of `of`, which has no stale one.
void copy_place(const TensorImpl& of, TensorImpl& to);

/// Where gradients with respect to `x` go; null when it requires none.
[[nodiscard]] TapeEdge edge_of(const Tensor& x);

/// The leaf node of `x` where somebody asked for it, else null.
[[nodiscard]] LeafNode* known_leaf_of(const Tensor& x) noexcept;

/// The leaf node of a tensor that no op computed, of a floating or complex dtype; one that requires
/// no gradient keeps its gradient and hooks there until it does. Throws InvalidArgument for any
/// other.
[[nodiscard]] LeafNode& leaf_of(const Tensor& x);

}  // namespace tessera
