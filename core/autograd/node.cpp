#include <tessera/core/autograd/node.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {
namespace {

void check_replacement(const Tensor& got, const Tensor& expected, std::string_view of) {
  if (got.shape() == expected.shape() && got.dtype() == expected.dtype()) {
    return;
  }
  const std::string hook =
      of.empty() ? "gradient hook" : detail::concat("gradient hook on \"", of, '"');
  check(got.shape() == expected.shape(), hook, ": wrong shape; got ", got.shape(), ", expected ",
        expected.shape());
  check(got.dtype() == expected.dtype(), hook, ": wrong dtype; got ", got.dtype(), ", expected ",
        expected.dtype());
}

}  // namespace

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

Tensor run_gradient_hooks(const GradientHooks* hooks, Tensor gradient, std::string_view of) {
  if (hooks == nullptr || hooks->empty()) {
    return gradient;
  }
  hooks->walk([&](const auto& entry) {
    if (Tensor replacement = entry.hook(gradient); replacement.defined()) {
      replacement = lay_as(std::move(replacement), gradient);
      check_replacement(replacement, gradient, of);
      gradient = std::move(replacement);
    }
  });
  return gradient;
}

}  // namespace tessera
