#include <tessera/core/autograd/node.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/leaf.h>

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
  if (const Edge& edge = edges[i]; edge.node) {
    OpNode* producer = edge.node->as_op();
    return producer != nullptr ? producer->outputs[edge.output] : edge.node->as_leaf()->meta;
  }
  const auto before =
      std::count_if(edges.begin(), edges.begin() + i, [](const Edge& edge) { return !edge.node; });
  return constants[static_cast<std::size_t>(before)];
}

void check_not_released(const OpNode& node) {
  check(!node.released(), node.op->info.name,
        ": backward ran through this graph before; use keep_graph to run it again");
}

SavedUse::SavedUse(OpNode& node, bool keep) : node_(node), keep_(keep) {
  if (keep) {
    const bool late =
        (node.readers.fetch_add(1, std::memory_order_acquire) & OpNode::kReleased) != 0;
    if (late) {
      node.readers.fetch_sub(1, std::memory_order_relaxed);
      check_not_released(node);
    }
  } else if ((node.readers.fetch_or(OpNode::kReleased, std::memory_order_acquire) &
              OpNode::kReleased) != 0) {
    check_not_released(node);
  }
}

SavedUse::~SavedUse() {
  if (keep_) {
    node_.readers.fetch_sub(1, std::memory_order_release);
  } else if (node_.readers.load(std::memory_order_acquire) == OpNode::kReleased) {
    node_.saved_inputs.clear();
    node_.saved_outputs.clear();
  }
}

Tensor run_gradient_hooks(const GradientHooks* hooks, Tensor gradient) {
  if (hooks == nullptr || hooks->empty()) {
    return gradient;
  }
  hooks->walk([&](const auto& entry) {
    if (Tensor replacement = entry.hook(gradient); replacement.defined()) {
      check(replacement.shape() == gradient.shape(), "gradient hook: wrong shape; got ",
            replacement.shape(), ", expected ", gradient.shape());
      gradient = std::move(replacement);
    }
  });
  return gradient;
}

}  // namespace tessera
