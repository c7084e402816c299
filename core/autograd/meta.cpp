#include <tessera/core/autograd/meta.h>

#include <tessera/core/autograd/views.h>

namespace tessera {

LeafHolder::~LeafHolder() {
  if (LeafNode* leaf = get(); leaf != nullptr && leaf->drop()) {
    TapeNode::release(leaf);
  }
}

void LeafHolder::retain() const noexcept {
  if (const LeafNode* leaf = get(); leaf != nullptr) {
    leaf->retain();
  }
}

LeafNode& LeafHolder::get_or_make(const TensorImpl& of) {
  if (LeafNode* known = get(); known != nullptr) {
    return *known;
  }
  auto fresh = std::make_unique<LeafNode>(of);
  fresh->retain();
  LeafNode* winner = nullptr;
  if (leaf_.compare_exchange_strong(winner, fresh.get(), std::memory_order_acq_rel)) {
    winner = fresh.release();
  }
  return *winner;
}

void LeaveTape::operator()(AutogradMeta* meta) const noexcept {
  delete meta;
}

void copy_place(const TensorImpl& of, TensorImpl& to) {
  if (of.autograd != nullptr) {
    to.autograd.reset(new AutogradMeta(*of.autograd));
  }
  to.set_wants_gradient(of.wants_gradient());
}

TapeEdge edge_of(const Tensor& x) {
  settle_view(x);
  const TensorImpl& impl = x.get();
  if (!impl.wants_gradient()) {
    return {};
  }
  const AutogradMeta* meta = impl.autograd.get();
  if (meta != nullptr && meta->producer) {
    return {Ref<TapeNode>(meta->producer.get()), meta->output};
  }
  return {Ref<TapeNode>(&leaf_of(x)), 0};
}

LeafNode* known_leaf_of(const Tensor& x) noexcept {
  const AutogradMeta* meta = x.get().autograd.get();
  return meta != nullptr ? meta->leaf.get() : nullptr;
}

LeafNode& leaf_of(const Tensor& x) {
  TensorImpl& impl = x.get();
  check(x.is_leaf() && is_differentiable(impl.dtype),
        "leaf: only a tensor that no op computed, of a floating or complex dtype, keeps a gradient "
        "and hooks; got shape ",
        impl.shape, ", ", impl.dtype);
  return meta_of(impl).leaf.get_or_make(impl);
}

}  // namespace tessera
