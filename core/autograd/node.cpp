#include <tessera/core/autograd/node.h>

#include <utility>

namespace tessera {

void TapeNode::release(TapeNode* node) noexcept {
  thread_local std::vector<TapeNode*> waiting;
  thread_local bool draining = false;
  waiting.push_back(node);
  if (draining) {
    return;
  }
  draining = true;
  while (!waiting.empty()) {
    TapeNode* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  draining = false;
}

Tensor GradientHooks::apply(Tensor gradient) const {
  for (const auto& [id, hook] : hooks) {
    if (Tensor replacement = hook(gradient); replacement.defined()) {
      check(replacement.shape() == gradient.shape(), "gradient hook: wrong shape; got ",
            replacement.shape(), ", expected ", gradient.shape());
      gradient = std::move(replacement);
    }
  }
  return gradient;
}

}  // namespace tessera
