#include <tessera/core/autograd/hooks.h>

#include <tessera/core/autograd/meta.h>

namespace tessera {
namespace {

std::shared_ptr<GradientHooks>& hooks_of(const Tensor& x) {
  check(x.requires_grad(), "gradient hook: the tensor requires no gradient");
  static_cast<void>(edge_of(x));  // settles the producer of a stale view
  AutogradMeta& meta = *x.get().autograd;
  if (!meta.producer) {
    return leaf_of(x).hooks;
  }
  meta.producer->hooks.resize(meta.producer->outputs.size());
  return meta.producer->hooks[meta.output];
}

template <class List>
void erase_id(List& list, std::uint64_t id) {
  std::erase_if(list, [id](const auto& entry) { return entry.first == id; });
}

}  // namespace

HookHandle register_gradient_hook(const Tensor& x, GradientHook hook) {
  std::shared_ptr<GradientHooks>& hooks = hooks_of(x);
  if (hooks == nullptr) {
    hooks = std::make_shared<GradientHooks>();
  }
  const std::uint64_t id = hooks->next_id++;
  hooks->hooks.emplace_back(id, std::move(hook));
  return HookHandle([weak = std::weak_ptr(hooks), id] {
    if (const auto alive = weak.lock()) {
      erase_id(alive->hooks, id);
    }
  });
}

HookHandle register_ready_hook(const Tensor& x, std::function<void(LeafNode&)> hook) {
  const Ref<LeafNode> leaf(&leaf_of(x));
  const std::uint64_t id = leaf->next_ready_hook++;
  leaf->ready_hooks.emplace_back(id, std::move(hook));
  return HookHandle([leaf, id] { erase_id(leaf->ready_hooks, id); });
}

}  // namespace tessera
