#include <tessera/core/autograd/reached_leaves.h>

#include <ranges>

namespace tessera {

void ReachedLeaves::add(LeafNode& leaf, Contribution total) {
  changes_.push_back({Ref<LeafNode>(&leaf), leaf.add_to_grad(std::move(total))});
}

ReachedLeaves::~ReachedLeaves() {
  for (Change& change : std::views::reverse(changes_)) {
    change.leaf->undo(std::move(change.grad));
  }
}

}  // namespace tessera
