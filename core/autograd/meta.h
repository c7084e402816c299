// The autograd part of a tensor, absent from plain ones.
#pragma once

#include <memory>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/node.h>

namespace tessera {

struct AutogradMeta : Pooled<AutogradMeta> {
  bool requires_grad = false;  ///< of a leaf
  Ref<LeafNode> leaf;          ///< of a leaf that collects gradients
  Ref<OpNode> producer;        ///< the recorded op that computed the tensor, null for leaves
  std::uint32_t output = 0;    ///< which of its outputs this is
  std::uint32_t epoch = 0;     ///< recorded writes to the tensor; of a view: to its base, as far as
                               ///< `producer` knows
};

/// Where gradients with respect to `x` go; null when it requires none.
[[nodiscard]] Edge edge_of(const Tensor& x);

/// The leaf node of a tensor that no op computed, of a floating or complex dtype; one that requires
/// no gradient keeps its gradient and hooks there until it does. Throws InvalidArgument for any
/// other.
[[nodiscard]] LeafNode& leaf_of(const Tensor& x);

}  // namespace tessera
