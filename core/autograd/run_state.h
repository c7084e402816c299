// What one run of backward knows of the nodes that it reached. Runs, also those of other threads,
// may share nodes, so nothing of it lies in the nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/core/autograd/leaf_run.h>
#include <tessera/core/autograd/node_places.h>

namespace tessera {

/// A recorded op in a run.
struct OpRun {
  OpNode* node = nullptr;
  std::int32_t pending = 0;     ///< contributions still to come
  std::uint32_t gradients = 0;  ///< where those of its outputs begin
  std::uint32_t targets = 0;    ///< where those of its edges begin
  bool reaches = false;         ///< leads to an input that `grad` asks for
};

/// The nodes below a run's roots, with what is still to come for each.
class RunState {
 public:
  /// Counts, for every node below `root`, the contributions that will arrive; gives the root's
  /// place. Throws InvalidArgument where a backward ran before that did not keep the graph.
  Target discover(const Edge& root);

  [[nodiscard]] std::vector<OpRun>& ops() { return ops_; }
  [[nodiscard]] const std::vector<LeafRun>& leaves() const { return leaves_; }
  [[nodiscard]] OpRun& op(Target target) { return ops_[target.place()]; }
  [[nodiscard]] LeafRun& leaf(Target target) { return leaves_[target.place()]; }
  /// Where the gradients of an op's inputs go.
  [[nodiscard]] std::span<const Target> targets(const OpRun& op) const {
    return {targets_.data() + op.targets, op.node->edges.size()};
  }
  /// The gradients of an op's outputs so far.
  [[nodiscard]] std::span<Tensor> gradients(const OpRun& op) {
    return {gradients_.data() + op.gradients, op.node->outputs.size()};
  }
  /// The leaf that the gradient of input `i` goes to; null for none.
  [[nodiscard]] LeafRun* leaf_behind(const OpRun& op, std::size_t i);

 private:
  Target expect(TapeNode& node, bool rows);
  Target add(TapeNode& node);

  NodePlaces places_;
  std::vector<OpRun> ops_;
  std::vector<LeafRun> leaves_;
  std::vector<Target> targets_;
  std::vector<Tensor> gradients_;
};

/// True when the gradient of input `i` is kept as rows.
[[nodiscard]] inline bool brings_rows(const OpNode& node, std::size_t i) {
  return (node.op->info.row_gradients >> i & 1U) != 0;
}

}  // namespace tessera
