#include <tessera/core/autograd/reached_leaves.h>

#include <ranges>

namespace tessera {

void ReachedLeaves::add(LeafNode& leaf) {
  before_.push_back({Ref<LeafNode>(&leaf), leaf.sink == nullptr ? leaf.grad : Tensor()});
}

ReachedLeaves::~ReachedLeaves() {
  for (Before& before : std::views::reverse(before_)) {
    before.leaf->clear_scratch();
    if (before.leaf->sink == nullptr) {
      before.leaf->grad = std::move(before.grad);
    }
  }
}

}  // namespace tessera
