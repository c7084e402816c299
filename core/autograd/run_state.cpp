#include <tessera/core/autograd/run_state.h>

#include <mutex>

namespace tessera {

namespace {

constinit std::mutex turn;

void check_not_cleared(bool cleared, const OpNode& node) {
  check(!cleared, node.op->info.name,
        ": backward ran through this graph before; use keep_graph to run it again");
}

}  // namespace

RunState::~RunState() {
  if (keep_) {
    const std::lock_guard lock(turn);
    for (const OpRun& op : ops_) {
      --op.node->readers_;
    }
  }
}

void RunState::give_back() {
  const std::lock_guard lock(turn);
  for (const OpRun& op : ops_) {
    OpNode& node = *op.node;
    node.taken_by_ = node.taken_by_ == run_ && !node.cleared_ ? 0 : node.taken_by_;
  }
}

bool RunState::is_under_way_here(std::uint64_t run) const {
  const RunState* state = this;
  while (state != nullptr && state->run_ != run) {
    state = state->outer_;
  }
  return state != nullptr;
}

bool RunState::take(OpNode& node) const {
  if (node.taken_by_ != 0) [[unlikely]] {
    // In this order: a run on another thread may be clearing the node.
    check_not_cleared(!is_under_way_here(node.taken_by_) || node.cleared_, node);
  }
  const bool shared = node.readers_ > 0;
  if (keep_) {
    ++node.readers_;
  } else {
    node.taken_by_ = run_;
  }
  return shared;
}

void RunState::check_saved(const OpRun& op) const {
  check_not_cleared(op.node->cleared_, *op.node);
}

void RunState::clear_saved(const OpRun& op) const {
  if (!keep_ && !op.shared) {
    op.node->cleared_ = true;
    op.node->saved_inputs.clear();
    op.node->saved_outputs.clear();
  }
}

RunTarget RunState::add(TapeNode& node) {
  OpNode* op = node.as_op();
  if (op == nullptr) {
    leaves_.emplace_back(*node.as_leaf());
    return RunTarget::leaf(leaves_.size() - 1);
  }
  const bool shared = take(*op);
  OpRun& run = ops_.emplace_back();
  run.node = op;
  run.gradients = outputs_;
  run.targets = inputs_;
  run.shared = shared;
  outputs_ += static_cast<std::uint32_t>(op->outputs.size());
  inputs_ += static_cast<std::uint32_t>(op->edges.size());
  return RunTarget::op(ops_.size() - 1);
}

RunTarget RunState::expect(const TapeEdge& edge, bool rows) {
  if (!edge.node) {
    return {};
  }
  TapeNode& node = *edge.node;
  if (node.run_ != run_) {
    node.target_ = add(node);
    node.run_ = run_;
  }
  if (node.target_.is_leaf()) {
    leaf(node.target_).expect(rows);
  } else {
    ++op(node.target_).pending;
  }
  return node.target_;
}

void RunState::follow_edges(std::size_t index) {
  const OpNode& node = *ops_[index].node;
  if (targets_.size() < inputs_) {
    targets_.resize(std::size_t{2} * inputs_);
  }
  std::size_t next = ops_[index].targets;
  for (std::size_t i = 0; i < node.edges.size(); ++i) {
    targets_[next++] = expect(node.edges[i], brings_rows(node, i));
  }
}

std::vector<RunTarget> RunState::discover(std::span<const TapeEdge> roots) {
  const std::lock_guard lock(turn);
  ops_.reserve(16);  // as many as the allocator's fastest blocks hold
  leaves_.reserve(8);
  std::vector<RunTarget> found;
  found.reserve(roots.size());
  for (const TapeEdge& root : roots) {
    found.push_back(expect(root, false));
  }
  for (std::size_t next = 0; next < ops_.size(); ++next) {
    follow_edges(next);
  }
  gradients_.resize(outputs_);
  return found;
}

LeafRun* RunState::leaf_behind(const OpRun& op, std::size_t i) {
  const RunTarget target = targets(op)[i];
  return target.is_leaf() ? &leaf(target) : nullptr;
}

}  // namespace tessera
