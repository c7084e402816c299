#include <tessera/core/autograd/run_state.h>

namespace tessera {

Target RunState::add(TapeNode& node) {
  OpNode* op = node.as_op();
  if (op == nullptr) {
    leaves_.emplace_back(*node.as_leaf());
    return Target::leaf(leaves_.size() - 1);
  }
  check_not_released(*op);
  ops_.push_back({.node = op, .gradients = static_cast<std::uint32_t>(gradients_.size())});
  gradients_.resize(gradients_.size() + op->outputs.size());
  return Target::op(ops_.size() - 1);
}

Target RunState::expect(TapeNode& node, bool rows) {
  Target& known = places_.find(node, [this](Target at) -> const TapeNode* {
    return at.is_leaf() ? static_cast<const TapeNode*>(&leaf(at).leaf()) : op(at).node;
  });
  if (known.is_nowhere()) {
    known = add(node);
  }
  if (known.is_leaf()) {
    leaf(known).expect(rows);
  } else {
    ++op(known).pending;
  }
  return known;
}

Target RunState::discover(const Edge& root) {
  std::size_t next = ops_.size();
  const Target start = expect(*root.node, false);
  for (; next < ops_.size(); ++next) {
    const OpNode& node = *ops_[next].node;
    ops_[next].targets = static_cast<std::uint32_t>(targets_.size());
    for (std::size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      targets_.push_back(edge.node ? expect(*edge.node, brings_rows(node, i)) : Target());
    }
  }
  return start;
}

LeafRun* RunState::leaf_behind(const OpRun& op, std::size_t i) {
  const Target target = targets(op)[i];
  return target.is_leaf() ? &leaf(target) : nullptr;
}

}  // namespace tessera
