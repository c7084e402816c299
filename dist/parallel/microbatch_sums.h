// What one parameter's gradient is summed up from on this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/autograd/sparse_gradient.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/parallel/microbatch_blocks.h>

namespace tessera::dist {

/// The sums of one parameter's dense gradients over each of the rank's blocks of microbatches, and
/// its sparse ones. A pass that is a whole block goes to the block's memory at once; smaller ones
/// are added along the tree until the step's last pass.
///
/// A step may run several backwards a pass. Each has its own sums, by its number in the pass; the
/// blocks' memory is the first one's until the last pass, and that of whichever is under way then.
class MicrobatchSums {
 public:
  /// `memory`: for the sum over each block, dense, of the parameter's shape.
  MicrobatchSums(const MicrobatchBlocks& blocks, std::vector<Tensor> memory);

  /// A handle on the memory for the sum over block number `block`.
  [[nodiscard]] Tensor memory(std::size_t block) const { return memory_[block].detach(); }
  /// The memory to which the context's pass may write its sum in backward; undefined for none.
  [[nodiscard]] Tensor destination() const;
  /// The memory to which its forward may write that sum already: it holds nothing, and no other
  /// forward's.
  [[nodiscard]] Tensor early_destination();

  /// Adds what the current backward of the context's pass brought.
  void add(Tensor dense);
  void add(SparseGradient rows);
  /// Brings the sum over every block to its memory, in the last pass; absent ones count as +0.
  void settle();
  /// What forwards have written to the memory is not theirs any more: ranks are about to add to it.
  void void_memory();

  /// True when the memory of some block holds a sum.
  [[nodiscard]] bool has_dense() const;
  /// Rows of the current backward's sparse gradients, and these, of all passes.
  [[nodiscard]] std::int64_t row_count() const;
  [[nodiscard]] SparseGradient sparse() const;
  [[nodiscard]] bool has_sparse() const;
  /// True when some backward of the step has brought something that the ranks have not summed.
  [[nodiscard]] bool has_any() const { return has_dense() || !backwards_.empty(); }
  /// The ranks have summed what the current backward brought.
  void end_backward();
  /// Drops everything, of a step that never ended.
  void forget();

 private:
  /// What the k-th backward of the step's passes brought outside the blocks' memory.
  struct Accumulation {
    std::vector<PassTree> dense;  ///< by block
    std::vector<SparseGradient> rows;
  };
  [[nodiscard]] bool owns_memory(std::size_t block) const;
  [[nodiscard]] Accumulation& accumulation();
  void store(std::size_t block, const Tensor& sum);

  const MicrobatchBlocks* blocks_;
  std::vector<Tensor> memory_;
  std::vector<char> filled_;                       ///< by block: its memory holds its sum
  std::vector<char> lent_;                         ///< by block: a forward has its memory
  std::map<std::size_t, Accumulation> backwards_;  ///< by number of the backward in its pass
};

}  // namespace tessera::dist
