#include <tessera/core/autograd/node.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {

void TapeNode::release(TapeNode* node) noexcept {
  struct Waiting {
    TapeNode* newest = nullptr;
    bool draining = false;
  };
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Waiting waiting;
  node->released_before_ = std::exchange(waiting.newest, node);
  if (waiting.draining) {
    return;
  }
  waiting.draining = true;
  while (waiting.newest != nullptr) {
    TapeNode* next = waiting.newest;
    waiting.newest = next->released_before_;
    delete next;
  }
  waiting.draining = false;
}

const TensorMeta& OpNode::input_meta(std::size_t i) const {
  if (const TapeEdge& edge = edges[i]; edge.node) {
    OpNode* producer = edge.node->as_op();
    return producer != nullptr ? producer->outputs[edge.output] : edge.node->as_leaf()->meta;
  }
  const auto before = std::count_if(edges.begin(), edges.begin() + i,
                                    [](const TapeEdge& edge) { return !edge.node; });
  return constants[static_cast<std::size_t>(before)];
}

Tensor run_gradient_hooks(const GradientHooks* hooks, Tensor gradient) {
  if (hooks == nullptr || hooks->empty()) {
    return gradient;
  }
  hooks->walk([&](const auto& entry) {
    if (Tensor replacement = entry.hook(gradient); replacement.defined()) {
      replacement = lay_as(std::move(replacement), gradient);
      check(replacement.shape() == gradient.shape(), "gradient hook: wrong shape; got ",
            replacement.shape(), ", expected ", gradient.shape());
      check(replacement.dtype() == gradient.dtype(), "gradient hook: wrong dtype; got ",
            replacement.dtype(), ", expected ", gradient.dtype());
      gradient = std::move(replacement);
    }
  });
  return gradient;
}

}  // namespace tessera
