// What a backward changes at leaves, taken back when it throws.
#pragma once

#include <vector>

#include <tessera/core/autograd/leaf.h>

namespace tessera {

/// The leaves that a backward reached. Unless `keep` is called they are as they were when the scope
/// ends: no scratch, and `grad` from before. A sink keeps what it was given.
class ReachedLeaves {
 public:
  ReachedLeaves() = default;
  ~ReachedLeaves();
  ReachedLeaves(const ReachedLeaves&) = delete;
  ReachedLeaves& operator=(const ReachedLeaves&) = delete;

  /// Call it before anything comes for `leaf`.
  void add(LeafNode& leaf);
  void keep() { before_.clear(); }

 private:
  struct Before {
    Ref<LeafNode> leaf;
    Tensor grad;
  };
  std::vector<Before> before_;
};

}  // namespace tessera
