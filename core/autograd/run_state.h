// What one run of backward knows of the nodes that it reached, and what it may do with them.
//
// Runs, also those of other threads, may share nodes. These hold little of a run, and that is read
// and written only while it discovers nodes or gives them back, when runs take turns: its place in
// the run, and who reads what the node saved. Runs that keep the graph may do so at once. One that
// does not keep it takes its nodes for ever: whoever discovers them later is refused, but for runs
// that it calls itself, in a hook, before it comes to the node. It clears what nobody read when it
// took it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/core/autograd/leaf_run.h>

namespace tessera {

/// A recorded op in a run.
struct OpRun {
  OpNode* node = nullptr;
  std::int32_t pending = 0;     ///< contributions still to come
  std::uint32_t gradients = 0;  ///< where those of its outputs begin
  std::uint32_t targets = 0;    ///< where those of its edges begin
  bool reaches = false;         ///< leads to an input that `grad` asks for
  bool shared = false;          ///< other runs read what the node saved
};

/// The nodes below a run's roots, with what is still to come for each.
class RunState {
 public:
  /// For the run of that number, which no other has, inside `outer` on the same thread, null for
  /// none. `into_leaves` is false for `grad`, whose results are no part of any leaf's gradient.
  RunState(std::uint64_t run, bool keep, bool into_leaves, const RunState* outer)
      : run_(run), keep_(keep), into_leaves_(into_leaves), outer_(outer) {}
  ~RunState();
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Counts, for every node below `roots`, the contributions that will arrive; gives the roots'
  /// targets. Throws InvalidArgument where a backward ran before that did not keep the graph.
  [[nodiscard]] std::vector<RunTarget> discover(std::span<const TapeEdge> roots);

  /// Throws InvalidArgument when a run inside this one cleared what `op` saved.
  void check_saved(const OpRun& op) const;
  /// `op` was computed: clears what it saved, unless the graph is kept or others read it.
  void clear_saved(const OpRun& op) const;
  /// The run failed: what it took and has not cleared is free again.
  void give_back();

  [[nodiscard]] std::vector<OpRun>& ops() { return ops_; }
  [[nodiscard]] const std::vector<LeafRun>& leaves() const { return leaves_; }
  [[nodiscard]] OpRun& op(RunTarget target) { return ops_[target.index()]; }
  [[nodiscard]] LeafRun& leaf(RunTarget target) { return leaves_[target.index()]; }
  /// Where the gradients of an op's inputs go; nowhere for those that nobody wants.
  [[nodiscard]] std::span<RunTarget> targets(const OpRun& op) {
    return {targets_.data() + op.targets, op.node->edges.size()};
  }
  /// The gradients of an op's outputs so far.
  [[nodiscard]] std::span<Tensor> gradients(const OpRun& op) {
    return {gradients_.data() + op.gradients, op.node->outputs.size()};
  }
  /// Whether gradients end in leaves and the memory that their sinks have for them.
  [[nodiscard]] bool into_leaves() const { return into_leaves_; }
  /// The leaf that the gradient of input `i` goes to; null for none.
  [[nodiscard]] LeafRun* leaf_behind(const OpRun& op, std::size_t i);

 private:
  RunTarget expect(const TapeEdge& edge, bool rows);
  RunTarget add(TapeNode& node);
  /// True when others read what the node saved.
  [[nodiscard]] bool take(OpNode& node) const;
  [[nodiscard]] bool is_under_way_here(std::uint64_t run) const;
  void follow_edges(std::size_t index);

  const std::uint64_t run_;
  const bool keep_;
  const bool into_leaves_;
  const RunState* outer_;
  std::vector<OpRun> ops_;
  std::vector<LeafRun> leaves_;
  std::vector<RunTarget> targets_;
  std::vector<Tensor> gradients_;
  std::uint32_t inputs_ = 0;   ///< of the ops so far
  std::uint32_t outputs_ = 0;  ///< of the ops so far
};

/// True when the gradient of input `i` is kept as rows.
[[nodiscard]] inline bool brings_rows(const OpNode& node, std::size_t i) {
  return (node.op->info.sparse_gradients >> i & 1U) != 0;
}

}  // namespace tessera
