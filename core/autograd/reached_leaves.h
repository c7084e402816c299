// What a backward changes at leaves, taken back when it throws.
#pragma once

#include <vector>

#include <tessera/core/autograd/leaf.h>

namespace tessera {

/// The leaves to whose `grad` a backward added. Unless `keep` is called they have the gradient from
/// before when the scope ends, but for those whose `grad` somebody else, a hook or a backward on
/// another thread, has changed since. A sink keeps what it was given.
class ReachedLeaves {
 public:
  ReachedLeaves() = default;
  ~ReachedLeaves();
  ReachedLeaves(const ReachedLeaves&) = delete;
  ReachedLeaves& operator=(const ReachedLeaves&) = delete;

  /// Up to `count` leaves will be reached.
  void expect(std::size_t count) { changes_.reserve(count); }
  /// Adds a finished sum to the `grad` of `leaf`, scaled.
  void add(LeafNode& leaf, Contribution total, GradientScale scale);
  void keep() { changes_.clear(); }

 private:
  struct Change {
    Ref<LeafNode> leaf;
    GradChange grad;
  };
  std::vector<Change> changes_;
};

}  // namespace tessera
