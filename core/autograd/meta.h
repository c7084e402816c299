// The autograd part of a tensor, absent from plain ones.
#pragma once

#include <atomic>
#include <memory>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/autograd/node.h>

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

struct AutogradMeta : Pooled<AutogradMeta> {
  bool requires_grad = false;  ///< of a leaf
  LeafHolder leaf;             ///< of a leaf that collects gradients
  Ref<OpNode> producer;        ///< the recorded op that computed the tensor, null for leaves
  std::uint32_t output = 0;    ///< which of its outputs this is
  std::uint32_t epoch = 0;     ///< recorded writes to the tensor; of a view: to its base, as far as
                               ///< `producer` knows
  Ref<const LossCounts> counts;  ///< of a loss that is a mean over counted elements
};

/// Where gradients with respect to `x` go; null when it requires none.
[[nodiscard]] TapeEdge edge_of(const Tensor& x);

/// The leaf node of `x` where somebody asked for it, else null.
[[nodiscard]] LeafNode* known_leaf_of(const Tensor& x) noexcept;

/// The leaf node of a tensor that no op computed, of a floating or complex dtype; one that requires
/// no gradient keeps its gradient and hooks there until it does. Throws InvalidArgument for any
/// other.
[[nodiscard]] LeafNode& leaf_of(const Tensor& x);

}  // namespace tessera
