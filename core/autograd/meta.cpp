#include <tessera/core/autograd/meta.h>

#include <utility>

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

}  // namespace tessera
