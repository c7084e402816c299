#include <tessera/core/autograd/hooks.h>

#include <tessera/core/autograd/meta.h>

namespace tessera {
namespace {

AutogradMeta& meta_of(const Tensor& x) {
  check(x.requires_grad(), "gradient hook: the tensor requires no gradient");
  static_cast<void>(edge_of(x));  // settles the producer of a stale view
  return *x.get().autograd;
}

OpHooks& hooks_of(OpNode& node) {
  if (node.hooks == nullptr) {
    node.hooks = std::make_unique<OpHooks>();
    node.hooks->outputs.resize(node.outputs.size());
  }
  return *node.hooks;
}

template <class Hook>
RemovableHandle add(std::shared_ptr<HookList<Hook>>& list, Hook hook) {
  if (list == nullptr) {
    list = std::make_shared<HookList<Hook>>();
  }
  return list->add(std::move(hook));
}

}  // namespace

RemovableHandle register_gradient_hook(const Tensor& x, GradientHook hook) {
  const AutogradMeta& meta = meta_of(x);
  return meta.producer ? add(hooks_of(*meta.producer).outputs[meta.output], std::move(hook))
                       : add(leaf_of(x).hooks, std::move(hook));
}

RemovableHandle register_op_hook(const Tensor& x, OpHook hook) {
  const AutogradMeta& meta = meta_of(x);
  check(static_cast<bool>(meta.producer), "op hook: no op computed the tensor");
  return add(hooks_of(*meta.producer).after, std::move(hook));
}

RemovableHandle register_ready_hook(const Tensor& x, ReadyHook hook) {
  return add(leaf_of(x).ready_hooks, std::move(hook));
}

void share_hooks(const Tensor& from, const Tensor& to) {
  const LeafNode* leaf = known_leaf_of(from);
  if (leaf != nullptr && to.is_leaf() && is_differentiable(to.dtype())) {
    leaf_of(to).hooks = leaf->hooks;
    leaf_of(to).ready_hooks = leaf->ready_hooks;
  }
}

}  // namespace tessera
