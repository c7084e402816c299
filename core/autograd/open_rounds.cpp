#include <tessera/core/autograd/open_rounds.h>

#include <map>
#include <utility>
#include <vector>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>

namespace tessera {
namespace {

/// What a thread's passes of one step have brought to leaves.
struct OpenStep {
  const Context* context = nullptr;
  std::uint64_t step = 0;
  std::int64_t first = 0;   ///< microbatch at which the step's first pass began
  std::int64_t latest = 0;  ///< and its latest
  bool lost = false;        ///< what earlier passes brought was dropped
  /// The leaves that wait, by number of the backward in its pass.
  std::map<std::size_t, std::vector<Ref<LeafNode>>> waiting;
};

OpenStep& open_step() {
  thread_local OpenStep step;
  return step;
}

void forget_sums(OpenStep& open) {
  for (const auto& [number, leaves] : open.waiting) {
    for (const Ref<LeafNode>& leaf : leaves) {
      leaf->passes->trees.erase(number);
    }
  }
  open.waiting.clear();
}

/// The step that the current pass belongs to. A pass that lies before the latest begins it anew.
OpenStep& step_of_pass() {
  OpenStep& open = open_step();
  const Context& context = Context::current();
  const Pass& pass = context.pass;
  if (open.context != &context || open.step != context.step || pass.first < open.latest) {
    forget_sums(open);
    open = {.context = &context, .step = context.step, .first = pass.first};
  }
  open.latest = pass.first;
  check<RuntimeError>(!open.lost, "backward: an earlier pass of step ", open.step,
                      " threw in backward; got the pass from microbatch ", pass.first,
                      ", expected the step's passes again from microbatch ", open.first, " on");
  return open;
}

}  // namespace

void add_to_open_round(LeafNode& leaf, Contribution contribution) {
  OpenStep& open = step_of_pass();
  if (leaf.passes == nullptr) {
    leaf.passes = std::make_shared<PassRounds>();
  }
  PassTree& tree = leaf.passes->trees[backward_in_pass()];
  if (tree.empty()) {
    open.waiting[backward_in_pass()].push_back(Ref<LeafNode>(&leaf));
  }
  if (contribution.rows.defined()) {
    tree.add_rows(std::move(contribution.rows));
  }
  if (contribution.dense.defined()) {
    const Pass& pass = Context::current().pass;
    tree.add(std::move(contribution.dense), pass.first, pass.count);
  }
}

void complete_open_rounds(ReachedLeaves& reached) {
  const auto open = open_step().waiting.extract(backward_in_pass());
  if (open.empty()) {
    return;
  }
  std::vector<PassTree> trees;  // taken at once: a hook may throw
  for (const Ref<LeafNode>& leaf : open.mapped()) {
    trees.push_back(std::move(leaf->passes->trees.extract(open.key()).mapped()));
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    LeafNode& leaf = *open.mapped()[i];
    reached.add(leaf);
    leaf.add_to_grad(trees[i].take(Context::current().pass.grain));
    leaf.run_ready_hooks();
  }
}

void drop_open_rounds() {
  OpenStep& open = open_step();
  const Context& context = Context::current();
  if (open.context == &context && open.step == context.step) {
    open.latest = context.pass.first;
    open.lost = open.lost || open.first < open.latest;
  }
  forget_sums(open);
}

}  // namespace tessera
