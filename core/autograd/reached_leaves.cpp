#include <tessera/core/autograd/reached_leaves.h>

#include <ranges>
#include <utility>

#include <tessera/core/autograd/backward_counts.h>

namespace tessera {

void ReachedLeaves::add(LeafNode& leaf, Contribution total, GradientScale scale) {
  changes_.push_back({Ref<LeafNode>(&leaf), add_scaled_to_grad(leaf, std::move(total), scale)});
}

ReachedLeaves::~ReachedLeaves() {
  for (Change& change : std::views::reverse(changes_)) {
    change.leaf->undo(std::move(change.grad));
  }
}

}  // namespace tessera
