#include <tessera/core/autograd/engine.h>

#include <algorithm>
#include <queue>

#include <tessera/core/autograd/accumulation.h>
#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/autograd/contributions.h>
#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/op_hooks.h>
#include <tessera/core/autograd/op_vjp.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/autograd/reached_leaves.h>
#include <tessera/core/autograd/run_state.h>
#include <tessera/core/autograd/seed.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// Where `grad` wants a gradient delivered.
struct Capture {
  TapeNode* node;
  std::uint32_t output;
  Tensor gradient;
};

struct NewestFirst {
  bool operator()(const OpRun* a, const OpRun* b) const {
    return a->node->sequence < b->node->sequence;
  }
};

/// One run of backward.
class BackwardRun {
 public:
  BackwardRun(const BackwardOptions& options, std::vector<Capture>* captures)
      : captures_(captures),
        previous_(current_),
        run_(++run_counter_),
        state_(run_, options.keep_graph || options.create_graph, captures_ == nullptr,
               previous_ == nullptr ? nullptr : &previous_->state_) {
    current_ = this;
    if (captures_ == nullptr) {
      count_backward_in_pass();
    }
  }
  ~BackwardRun() {
    if (!finished_) {
      abandon();
    }
    current_ = previous_;
  }
  BackwardRun(const BackwardRun&) = delete;
  BackwardRun& operator=(const BackwardRun&) = delete;

  void start(std::span<const Tensor> roots);
  void seed(Tensor gradient) { seeds_.push_back(std::move(gradient)); }
  void count(std::span<const Tensor> roots, std::span<const Tensor> seeds) {
    counts_.begin(roots, seeds, state_.leaves());
  }
  void run();
  void finish();

  static BackwardRun* current() { return current_; }
  [[nodiscard]] std::uint64_t number() const { return run_; }
  [[nodiscard]] const BackwardCounts& counts() const { return counts_; }
  using Callbacks = std::vector<std::function<void()>>;
  Callbacks end_callbacks, settled_callbacks, failure_callbacks;

 private:
  void prune();
  [[nodiscard]] bool leads_to_capture(const TapeEdge& edge, RunTarget target);
  void execute(OpRun& at);
  [[nodiscard]] BatchSum batch_sum_of(const OpRun& at);
  void compute(OpRun& at, OpVjp& vjp);
  void deliver(RunTarget target, std::uint32_t output, Tensor&& gradient, bool rows);
  void deliver(LeafRun& leaf, Tensor&& gradient, bool rows);
  void complete(LeafRun& leaf);
  void capture(const TapeNode& node, std::uint32_t output, const Tensor& gradient);
  void abandon();

  bool finished_ = false;
  std::vector<Capture>* captures_;  ///< null in an ordinary backward
  BackwardRun* previous_;
  std::uint64_t run_;
  std::vector<TapeEdge> roots_;  ///< keep every node alive that is reached
  std::vector<RunTarget> root_targets_;
  std::vector<Tensor> seeds_;
  RunState state_;
  std::size_t bytes_apart_ = 0;  ///< of leaves' gradients that came whole for each microbatch
  ReachedLeaves reached_;
  BackwardCounts counts_;
  /// Ops whose gradients are all there.
  std::priority_queue<OpRun*, std::vector<OpRun*>, NewestFirst> ready_;

  [[gnu::tls_model("initial-exec")]] static thread_local BackwardRun* current_;
  static std::atomic<std::uint64_t> run_counter_;
};

constinit thread_local BackwardRun* BackwardRun::current_ = nullptr;
std::atomic<std::uint64_t> BackwardRun::run_counter_{0};

void BackwardRun::start(std::span<const Tensor> roots) {
  for (const Tensor& root : roots) {
    roots_.push_back(edge_of(root));
  }
  root_targets_ = state_.discover(roots_);
}

bool BackwardRun::leads_to_capture(const TapeEdge& edge, RunTarget target) {
  const bool reaches = !target.is_nowhere() && !target.is_leaf() && state_.op(target).reaches;
  return reaches || std::ranges::any_of(*captures_, [&](const Capture& c) {
           return c.node == edge.node.get() && c.output == edge.output;
         });
}

/// For `grad`: marks the nodes that lead to a captured input. Other leaves want nothing: what ops
/// would bring them is not computed, and their sinks do not learn of the run.
void BackwardRun::prune() {
  std::vector<OpRun*> oldest_first;  // inputs come before what was made of them
  for (OpRun& op : state_.ops()) {
    oldest_first.push_back(&op);
  }
  std::ranges::sort(oldest_first, {}, [](const OpRun* op) { return op->node->sequence; });
  for (OpRun* op : oldest_first) {
    const std::span<RunTarget> targets = state_.targets(*op);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool leads = leads_to_capture(op->node->edges[i], targets[i]);
      op->reaches |= leads;
      targets[i] = targets[i].is_leaf() && !leads ? RunTarget() : targets[i];
    }
  }
}

void BackwardRun::run() {
  const CategoryScope category(MemoryCategory::gradient);
  if (captures_ != nullptr) {
    prune();
  } else {
    reached_.expect(state_.leaves().size());
  }
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    deliver(root_targets_[i], roots_[i].output, std::move(seeds_[i]), false);
  }
  while (!ready_.empty()) {
    OpRun& at = *ready_.top();
    ready_.pop();
    execute(at);
  }
}

/// A sum over the batch may be taken at once only where nothing is added to it afterwards but whole
/// sums: directly at a leaf with one use. See docs/determinism.md.
BatchSum BackwardRun::batch_sum_of(const OpRun& at) {
  const std::span<const RunTarget> targets = state_.targets(at);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].is_nowhere()) {
      continue;
    }
    const bool only_use = targets[i].is_leaf() && state_.leaf(targets[i]).only_use();
    if (!only_use && !at.node->input_meta(i).microbatches) {
      return BatchSum::per_microbatch;
    }
  }
  return BatchSum::tree;
}

/// The gradients of an op's inputs, where its outputs have some and somebody wants them.
void BackwardRun::compute(OpRun& at, OpVjp& vjp) {
  OpNode& node = *at.node;
  const std::span<Tensor> gradients = state_.gradients(at);
  state_.check_saved(at);
  if (std::ranges::any_of(gradients, &Tensor::defined) && (captures_ == nullptr || at.reaches)) {
    if (node.of_one_microbatch && grad_enabled()) {
      fail_on_microbatches(node.op->info.name,
                           "gradients of gradients go through what runs one microbatch at a time");
    }
    {
      const ModeGuard<&Modes::batch_sum> sum(batch_sum_of(at));
      node.op->vjp(vjp, node.attrs.get());
    }
    if (node.hooks != nullptr) {
      run_op_hooks(node, {vjp.results().data(), vjp.results().size()}, gradients);
    }
  }
  state_.clear_saved(at);
}

void BackwardRun::execute(OpRun& at) {
  const OpNode& node = *at.node;
  const TraceRange trace(node.op->info.name, "backward");
  const std::span<Tensor> gradients = state_.gradients(at);
  if (node.hooks != nullptr) {
    run_output_hooks(*node.hooks, gradients);
  }
  for (std::uint32_t i = 0; captures_ != nullptr && i < gradients.size(); ++i) {
    capture(node, i, gradients[i]);
  }
  OpVjp vjp(state_, at);
  compute(at, vjp);
  for (Tensor& gradient : gradients) {
    gradient = Tensor();
  }
  const std::span<const RunTarget> targets = state_.targets(at);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    deliver(targets[i], node.edges[i].output, std::move(vjp.results()[i]), brings_rows(node, i));
  }
}

void BackwardRun::capture(const TapeNode& node, std::uint32_t output, const Tensor& gradient) {
  for (Capture& c : *captures_) {
    if (c.node == &node && c.output == output) {
      c.gradient = gradient;
    }
  }
}

/// Adds a contribution, undefined for none, and lets the target run when it was the last one.
void BackwardRun::deliver(RunTarget target, std::uint32_t output, Tensor&& gradient, bool rows) {
  if (target.is_nowhere()) {
    return;
  }
  forget_counts(gradient);
  if (target.is_leaf()) {
    deliver(state_.leaf(target), std::move(gradient), rows);
    return;
  }
  OpRun& op = state_.op(target);
  if (Tensor& sum = state_.gradients(op)[output]; gradient.defined()) {
    add_contribution(sum, std::move(gradient), op.node->outputs[output]);
  }
  if (--op.pending == 0) {
    ready_.push(&op);
  }
}

void BackwardRun::deliver(LeafRun& leaf, Tensor&& gradient, bool rows) {
  const bool last = leaf.arrive();
  if (gradient.defined()) {
    if (captures_ == nullptr) {
      check_fits_leaf(gradient, leaf.leaf().meta);
    }
    leaf.add(std::move(gradient));
  }
  if (!rows && leaf.arrive_dense()) {
    leaf.add_put_off(captures_ == nullptr);
    bytes_apart_ += leaf.bytes_apart();
    if (!last && captures_ == nullptr && !grad_enabled()) {
      leaf.hand_over_dense();
    }
  }
  if (last && !leaf.empty()) {
    complete(leaf);
  }
}

void BackwardRun::complete(LeafRun& leaf) {
  if (captures_ == nullptr) {
    leaf.complete(reached_, counts_.scale());
    return;
  }
  const TapeNode& node = leaf.leaf();
  if (std::ranges::any_of(*captures_, [&](const Capture& c) { return c.node == &node; })) {
    capture(node, 0, leaf.take_sum());
  }
}

void BackwardRun::finish() {
  std::ranges::for_each(end_callbacks, [](const auto& callback) { callback(); });
  if (captures_ == nullptr && Context::current().pass.last) {
    complete_accumulations(reached_, counts_.scale_of_step());
  }
  if (bytes_apart_ > 0) {
    log_once("gradients apart", LogLevel::info,
             "backward: parameters with several uses, or behind ",
             "other ops, have a gradient for each microbatch of the pass, ", bytes_apart_,
             " bytes in all; passes of one microbatch need one each");
  }
  reached_.keep();
  finished_ = true;
  std::ranges::for_each(settled_callbacks, [](const auto& callback) { callback(); });
}

/// Backward threw: nothing of it stays in the sums over a step's passes. See also give_back.
void BackwardRun::abandon() {
  state_.give_back();
  std::ranges::for_each(failure_callbacks, [](const auto& callback) { callback(); });
  if (captures_ == nullptr) {
    drop_accumulations();
    uncount_backward_in_pass();
  }
}

BackwardRun& running_backward(const char* what) {
  BackwardRun* run = BackwardRun::current();
  check<InternalError>(run != nullptr, what, ": no backward pass is under way");
  return *run;
}

void tell_listeners() {
  if (const auto listeners = Context::current().backward_listeners; listeners != nullptr) {
    listeners->walk([](const auto& entry) { entry.hook(); });
  }
}

}  // namespace

void backward(std::span<const Tensor> roots, std::span<const Tensor> given,
              const BackwardOptions& options) {
  check(given.empty() || given.size() == roots.size(), "backward: wrong number of seeds; got ",
        given.size(), ", expected none or ", roots.size());
  const std::vector<Tensor> none(given.empty() ? roots.size() : 0);
  const std::span<const Tensor> seeds = given.empty() ? none : given;
  tell_listeners();
  const ModeGuard<&Modes::record> recording(options.create_graph);
  BackwardRun run(options, nullptr);
  for (const Tensor& root : roots) {
    check(root.requires_grad(), "backward: the tensor requires no gradient");
  }
  const std::vector<Tensor> parts = roots_of_pass(roots, seeds);
  run.start(parts);
  run.count(roots, seeds);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    run.seed(seed_for(parts[i], seeds[i], SeedScale::grain, run.counts().weights()));
  }
  run.run();
  run.finish();
}

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> seeds, const BackwardOptions& options) {
  check(seeds.empty() || seeds.size() == outputs.size(), "grad: wrong number of seeds; got ",
        seeds.size(), ", expected none or ", outputs.size());
  std::vector<Capture> captures;
  for (const Tensor& x : inputs) {
    check(x.requires_grad(), "grad: an input requires no gradient");
    const TapeEdge edge = edge_of(x);
    captures.push_back({edge.node.get(), edge.output, {}});
  }
  const ModeGuard<&Modes::record> recording(options.create_graph);
  BackwardRun run(options, &captures);
  for (const Tensor& output : outputs) {
    check(output.requires_grad(), "grad: an output requires no gradient");
  }
  run.start(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    run.seed(seed_for(outputs[i], seeds.empty() ? Tensor() : seeds[i], SeedScale::one));
  }
  run.run();
  run.finish();
  std::vector<Tensor> gradients;
  for (Capture& c : captures) {
    gradients.push_back(std::move(c.gradient));
  }
  return gradients;
}

std::uint64_t current_backward() {
  const BackwardRun* run = BackwardRun::current();
  return run != nullptr ? run->number() : 0;
}

RemovableHandle at_begin_of_backward(std::function<void()> callback) {
  auto& listeners = Context::current().backward_listeners;
  if (listeners == nullptr) {
    listeners = std::make_shared<HookList<std::function<void()>>>();
  }
  return listeners->add(std::move(callback));
}

void at_end_of_backward(std::function<void()> ended) {
  running_backward("at_end_of_backward").end_callbacks.push_back(std::move(ended));
}

void when_backward_is_over(std::function<void()> settled, std::function<void()> failed) {
  BackwardRun& run = running_backward("when_backward_is_over");
  run.settled_callbacks.push_back(std::move(settled));
  run.failure_callbacks.push_back(std::move(failed));
}

}  // namespace tessera
