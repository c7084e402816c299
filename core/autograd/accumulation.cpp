#include <tessera/core/autograd/accumulation.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/pass_sequence.h>

namespace tessera {
namespace {

/// The sums of the k-th backwards of a step's passes, in the order in which leaves were reached.
class Accumulation {
 public:
  PassTree& sum_of(LeafNode& leaf) {
    const auto [known, fresh] = places_.try_emplace(&leaf, sums.size());
    if (fresh) {
      sums.emplace_back(Ref<LeafNode>(&leaf), PassTree());
    }
    return sums[known->second].second;
  }
  std::vector<std::pair<Ref<LeafNode>, PassTree>> sums;
  PassCounts counts;  ///< of all microbatches of the step so far

 private:
  std::unordered_map<LeafNode*, std::size_t> places_;
};

/// What a thread's passes of one step have brought to leaves.
struct OpenStep {
  PassSequence passes;
  bool lost = false;                            ///< what earlier passes brought was dropped
  std::map<std::size_t, Accumulation> waiting;  ///< by number of the backward in its pass
};

/// The training step's, and that of an evaluation, which may lie in one of its passes. On the heap:
/// a library that Python loads has little room for what threads keep.
OpenStep& open_step() {
  thread_local const auto steps = std::make_unique<std::array<OpenStep, 2>>();
  return (*steps)[Context::current().pass.training ? 0 : 1];
}

/// The step that the current pass belongs to.
OpenStep& entered_step() {
  OpenStep& open = open_step();
  if (open.passes.enter() == PassSequence::Entered::first) {
    open.lost = false;
    open.waiting.clear();
  }
  return open;
}

/// The open step of the pass that runs, which adds to it.
OpenStep& step_of_pass() {
  OpenStep& open = entered_step();
  const Pass& pass = Context::current().pass;
  check<RuntimeError>(!open.lost, "backward: an earlier pass of step ", open.passes.step(),
                      " threw in backward; got the pass from microbatch ", pass.first,
                      ", expected the step's passes again from microbatch ", open.passes.first(),
                      " on");
  return open;
}

}  // namespace

void add_to_accumulation(LeafNode& leaf, Contribution contribution) {
  OpenStep& open = step_of_pass();
  PassTree& tree = open.waiting[backward_in_pass()].sum_of(leaf);
  if (contribution.rows.defined()) {
    tree.add_sparse(kept_for_later(std::move(contribution.rows)));
  }
  if (contribution.dense.defined()) {
    const Pass& pass = Context::current().pass;
    tree.add(std::move(contribution.dense), pass.first, pass.count);
  }
}

bool has_accumulations() {
  const OpenStep& open = open_step();
  PassSequence passes = open.passes;
  return passes.enter() != PassSequence::Entered::first && !open.waiting.empty();
}

void check_no_pass_is_lost() {
  static_cast<void>(step_of_pass());
}

double count_in_accumulation(const PassCounts& counts) {
  const Pass& pass = Context::current().pass;
  PassCounts& step = step_of_pass().waiting[backward_in_pass()].counts;
  if (step.values.empty()) {
    step = {counts.loss, std::vector<double>(static_cast<std::size_t>(pass.grain), kPlainLoss),
            counts.elements};
  }
  const auto end = pass.first + std::ssize(counts.values);
  check<RuntimeError>(
      std::ssize(step.values) == pass.grain && end <= pass.grain,
      "backward: the passes of a step do not belong together; got microbatches up to ", end, " of ",
      pass.grain, ", expected all of ", step.values.size());
  std::ranges::copy(counts.values, step.values.begin() + pass.first);
  return step.elements;
}

namespace {

/// Where no parameter is reached that ranks train together, none knows what the others counted.
void check_all_counted(const PassCounts& counts) {
  const auto unknown = [](double count) { return count == kPlainLoss; };
  const auto in_part = [&](double count) { return !unknown(count) && count != counts.elements; };
  check<Unsupported>(
      std::ranges::none_of(counts.values, unknown) || std::ranges::none_of(counts.values, in_part),
      "backward: ", counts.loss,
      " counts a part of its elements, and its gradient is that of a mean over what all ranks "
      "count, of which rank ",
      Context::current().rank,
      " knows its own part: the loss reaches no parameter of a model that dist::data_parallel was "
      "called on; call it, or take the gradient of a sum");
}

}  // namespace

void complete_accumulations(ReachedLeaves& reached, std::optional<GradientScale> of_ranks) {
  auto open = open_step().waiting.extract(backward_in_pass());  // taken at once: a hook may throw
  if (open.empty()) {
    return;
  }
  PassCounts& counts = open.mapped().counts;
  const bool plain = counts.values.empty();
  if (!of_ranks && Context::current().world_size > 1) {
    check_all_counted(counts);
  }
  const GradientScale scale = plain      ? GradientScale{}
                              : of_ranks ? *of_ranks
                                         : scale_of(std::move(counts.values), counts.elements);
  for (auto& [leaf, tree] : open.mapped().sums) {
    reached.add(*leaf, tree.take(Context::current().pass.grain), scale);
    leaf->run_ready_hooks();
  }
}

void drop_accumulations() {
  OpenStep& open = entered_step();
  const bool others = open.passes.first() < open.passes.latest() ||
                      (!Context::current().pass.last && backward_in_pass() > 0);
  open.lost = open.lost || others;
  open.waiting.clear();
}

}  // namespace tessera
