// Which microbatches of a global batch are this rank's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/core/base/grain.h>
#include <tessera/core/base/loop.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist {

/// The microbatches of a global batch, dealt to ranks as aligned blocks: subtrees of the one tree
/// along which gradients are summed.
class MicrobatchBlocks {
 public:
  /// Throws InvalidArgument unless `grain` is a power of two and at least `ranks`.
  MicrobatchBlocks(std::int64_t grain, int ranks, int rank);

  [[nodiscard]] std::int64_t grain() const { return grain_; }
  [[nodiscard]] const std::shared_ptr<const ReductionTree>& tree() const { return tree_; }
  /// This rank's, in order.
  [[nodiscard]] const std::vector<TreeLeaf>& own() const { return own_; }
  /// Number of blocks of the rank that has the most.
  [[nodiscard]] int most() const { return tree_->max_blocks(); }
  /// All microbatches of a rank.
  [[nodiscard]] MicrobatchRange share_of(int rank) const;

  /// Whether some block of this rank's holds the context's pass.
  [[nodiscard]] bool hold_pass() const { return find() != own_.size(); }
  /// Number of the block that holds the context's pass. Throws InvalidArgument, saying what does
  /// not fit, where none does.
  [[nodiscard]] std::size_t current() const;
  /// Whether the context's pass is all of block number `block`.
  [[nodiscard]] bool is_whole_pass(std::size_t block) const;

 private:
  [[nodiscard]] std::size_t find() const;

  std::int64_t grain_;
  int ranks_;
  std::shared_ptr<const ReductionTree> tree_;
  std::vector<TreeLeaf> own_;
};

}  // namespace tessera::dist
