#include <tessera/core/autograd/engine.h>

#include <algorithm>
#include <queue>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/open_rounds.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/autograd/reached_leaves.h>
#include <tessera/core/autograd/seed.h>
#include <tessera/core/autograd/vjp.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/ops/add.h>

namespace tessera {
namespace {

/// Where `grad` wants a gradient delivered.
struct Capture {
  TapeNode* node;
  std::uint32_t output;
  Tensor gradient;
};

/// True when the gradient of input `i` is kept as rows.
bool brings_rows(const OpNode& node, std::size_t i) {
  return (node.op->info.row_gradients >> i & 1U) != 0;
}

struct NewestFirst {
  bool operator()(const OpNode* a, const OpNode* b) const { return a->sequence < b->sequence; }
};

/// One run of backward.
class BackwardRun {
 public:
  BackwardRun(const BackwardOptions& options, std::vector<Capture>* captures)
      : keep_(options.keep_graph || options.create_graph),
        captures_(captures),
        previous_(current_) {
    current_ = this;
    run_ = ++run_counter_;
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

  void start(const Edge& root, const Tensor& seed);
  void run();
  void finish();

  static BackwardRun* current() { return current_; }
  [[nodiscard]] std::uint64_t number() const { return run_; }
  std::vector<std::function<void()>> callbacks;

 private:
  void discover(const Edge& root);
  void visit(TapeNode& node);
  void expect(TapeNode& node, bool rows);
  void prune();
  void execute(OpNode& node);
  [[nodiscard]] BatchSum batch_sum_of(const OpNode& node) const;
  void deliver(const Edge& edge, Tensor gradient, bool rows);
  void deliver(LeafNode& leaf, Tensor gradient, bool rows, bool last);
  void complete(LeafNode& leaf, const Edge& edge);
  void capture(const Edge& edge, const Tensor& gradient);
  void abandon();

  bool keep_;
  bool finished_ = false;
  std::vector<Capture>* captures_;  ///< null in an ordinary backward
  BackwardRun* previous_;
  std::uint64_t run_ = 0;
  std::vector<std::pair<Edge, Tensor>> roots_;  ///< keep every node alive that is reached
  std::vector<OpNode*> found_;
  std::size_t bytes_apart_ = 0;  ///< of leaves' gradients that came whole for each microbatch
  ReachedLeaves reached_;
  std::priority_queue<OpNode*, std::vector<OpNode*>, NewestFirst> ready_;

  [[gnu::tls_model("initial-exec")]] static thread_local BackwardRun* current_;
  static std::atomic<std::uint64_t> run_counter_;
};

constinit thread_local BackwardRun* BackwardRun::current_ = nullptr;
std::atomic<std::uint64_t> BackwardRun::run_counter_{0};

void BackwardRun::start(const Edge& root, const Tensor& seed) {
  if (root.node) {
    discover(root);
    roots_.emplace_back(root, seed);
  }
}

/// Resets a node's scratch at its first sight in this run.
void BackwardRun::visit(TapeNode& node) {
  if (node.run == run_) {
    return;
  }
  node.run = run_;
  node.pending = 0;
  node.uses = 0;
  if (OpNode* op = node.as_op(); op != nullptr) {
    check(!op->released, op->op->info.name,
          ": backward ran through this graph before; use keep_graph to run it again");
    op->gradients.clear();
    op->gradients.resize(op->outputs.size());
    found_.push_back(op);
  } else {
    LeafNode& leaf = *node.as_leaf();
    reached_.add(leaf);
    leaf.clear_scratch();
  }
}

/// One more contribution. Rows are no use: they are summed by themselves and added last.
void BackwardRun::expect(TapeNode& node, bool rows) {
  visit(node);
  ++node.pending;
  node.uses += rows ? 0 : 1;
}

/// Counts, for every node below `root`, the contributions that will arrive.
void BackwardRun::discover(const Edge& root) {
  std::size_t next = found_.size();
  expect(*root.node, false);
  for (; next < found_.size(); ++next) {
    const OpNode& node = *found_[next];
    for (std::size_t i = 0; i < node.edges.size(); ++i) {
      if (const Edge& edge = node.edges[i]; edge.node) {
        expect(*edge.node, brings_rows(node, i));
      }
    }
  }
}

/// For `grad`: marks the nodes that lead to a captured input.
void BackwardRun::prune() {
  std::ranges::sort(found_, {}, &OpNode::sequence);  // inputs come before what was made of them
  const auto wanted = [&](const Edge& edge) {
    OpNode* op = edge.node ? edge.node->as_op() : nullptr;
    return (op != nullptr && op->reaches) || std::ranges::any_of(*captures_, [&](const Capture& c) {
             return c.node == edge.node.get() && c.output == edge.output;
           });
  };
  for (OpNode* node : found_) {
    node->reaches = std::ranges::any_of(node->edges, wanted);
  }
}

void BackwardRun::run() {
  if (captures_ != nullptr) {
    prune();
  }
  for (auto& [edge, seed] : roots_) {
    deliver(edge, std::move(seed), false);
  }
  while (!ready_.empty()) {
    OpNode& node = *ready_.top();
    ready_.pop();
    execute(node);
  }
}

/// A sum over the batch may be taken at once only where nothing is added to it afterwards but whole
/// sums: directly at a leaf with one use. See docs/determinism.md.
BatchSum BackwardRun::batch_sum_of(const OpNode& node) const {
  for (std::size_t i = 0; i < node.edges.size(); ++i) {
    if (!node.edges[i].node) {
      continue;
    }
    LeafNode* leaf = node.edges[i].node->as_leaf();
    const bool only_use = leaf != nullptr && leaf->uses == 1;
    if (!only_use && !node.input_meta(i).cut) {
      return BatchSum::stack;
    }
  }
  return BatchSum::tree;
}

void run_output_hooks(OpNode& node) {
  for (std::size_t i = 0; node.hooks != nullptr && i < node.gradients.size(); ++i) {
    if (node.gradients[i].defined()) {
      node.gradients[i] =
          run_gradient_hooks(node.hooks->outputs[i].get(), std::move(node.gradients[i]));
    }
  }
}

void run_op_hooks(OpNode& node, Vjp& vjp) {
  if (node.hooks == nullptr || node.hooks->after == nullptr) {
    return;
  }
  const std::vector<Tensor> outputs(node.gradients.begin(), node.gradients.end());
  node.hooks->after->walk([&](const auto& entry) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < node.edges.size(); ++i) {
      inputs.push_back(brings_rows(node, i) ? Tensor() : vjp.results()[i]);
    }
    const auto replaced = entry.hook(inputs, outputs);
    for (std::size_t i = 0; replaced && i < node.edges.size(); ++i) {
      if (!brings_rows(node, i)) {
        vjp.results()[i] = replaced->at(i);
      }
    }
  });
}

void BackwardRun::execute(OpNode& node) {
  const TraceRange trace(node.op->info.name, "backward");
  run_output_hooks(node);
  for (std::size_t i = 0; captures_ != nullptr && i < node.gradients.size(); ++i) {
    capture({Ref<TapeNode>(&node), static_cast<std::uint32_t>(i)}, node.gradients[i]);
  }
  const bool any = std::ranges::any_of(node.gradients, &Tensor::defined);
  Vjp vjp(node);
  if (any && (captures_ == nullptr || node.reaches)) {
    const ModeGuard<&Modes::batch_sum> sum(batch_sum_of(node));
    node.op->vjp(vjp, node.attrs.get());
    run_op_hooks(node, vjp);
  }
  node.gradients.clear();
  if (!keep_) {
    node.released = true;
    node.saved_inputs.clear();
    node.saved_outputs.clear();
  }
  for (std::size_t i = 0; i < node.edges.size(); ++i) {
    deliver(node.edges[i], std::move(vjp.results()[i]), brings_rows(node, i));
  }
}

void BackwardRun::capture(const Edge& edge, const Tensor& gradient) {
  for (Capture& c : *captures_) {
    if (c.node == edge.node.get() && c.output == edge.output) {
      c.gradient = gradient;
    }
  }
}

/// Adds a contribution, undefined for none, and lets the target run when it was the last one.
void BackwardRun::deliver(const Edge& edge, Tensor gradient, bool rows) {
  if (!edge.node) {
    return;
  }
  TapeNode& target = *edge.node;
  const bool last = --target.pending == 0;
  OpNode* op = target.as_op();
  if (op == nullptr) {
    deliver(*target.as_leaf(), std::move(gradient), rows, last);
    if (last) {
      complete(*target.as_leaf(), edge);
    }
    return;
  }
  Tensor& sum = op->gradients[edge.output];
  if (gradient.defined() && sum.defined()) {
    accumulate(sum, gradient);
  } else if (gradient.defined()) {
    sum = std::move(gradient);
  }
  if (last) {
    ready_.push(op);
  }
}

void BackwardRun::deliver(LeafNode& leaf, Tensor gradient, bool rows, bool last) {
  if (gradient.defined()) {
    leaf.add(std::move(gradient));
  }
  leaf.arrived += rows ? 0 : 1;
  if (rows || leaf.arrived < leaf.uses) {
    return;
  }
  bytes_apart_ += leaf.sum.defined() && leaf.sum.cut().stacked ? leaf.sum.nbytes() : 0;
  if (!last && captures_ == nullptr) {
    leaf.offer_dense();
  }
}

void BackwardRun::complete(LeafNode& leaf, const Edge& edge) {
  if (!leaf.sum.defined() && leaf.rows.empty() && !leaf.dense_taken) {
    return;
  }
  if (captures_ == nullptr) {
    leaf.complete();
    return;
  }
  const bool wanted =
      std::ranges::any_of(*captures_, [&](const Capture& c) { return c.node == edge.node.get(); });
  if (wanted) {
    capture(edge, leaf.take_sum());
  }
}

void BackwardRun::finish() {
  if (captures_ == nullptr && Context::current().pass.last) {
    complete_open_rounds(reached_);
  }
  for (const std::function<void()>& callback : callbacks) {
    callback();
  }
  if (bytes_apart_ > 0) {
    log_once("gradients apart", LogLevel::info,
             "backward: parameters with several uses, or behind ",
             "other ops, have a gradient for each microbatch of the pass, ", bytes_apart_,
             " bytes in all; passes of one microbatch need one each");
  }
  reached_.keep();
  finished_ = true;
}

/// Backward threw: nothing of it stays, neither on the tape nor in the sums over a step's passes.
void BackwardRun::abandon() {
  for (OpNode* node : found_) {
    node->gradients.clear();
  }
  if (captures_ == nullptr) {
    uncount_backward_in_pass();
    drop_open_rounds();
  }
}

void tell_listeners() {
  if (const auto listeners = Context::current().backward_listeners; listeners != nullptr) {
    listeners->walk([](const auto& entry) { entry.hook(); });
  }
}

}  // namespace

void backward(std::span<const Tensor> roots, std::span<const Tensor> seeds,
              const BackwardOptions& options) {
  tell_listeners();
  const ModeGuard<&Modes::record> recording(options.create_graph);
  BackwardRun run(options, nullptr);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    check(roots[i].requires_grad(), "backward: the tensor requires no gradient");
    run.start(edge_of(roots[i]), seed_for(roots[i], seeds[i], true));
  }
  run.run();
  run.finish();
}

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> seeds, const BackwardOptions& options) {
  std::vector<Capture> captures;
  for (const Tensor& x : inputs) {
    check(x.requires_grad(), "grad: an input requires no gradient");
    const Edge edge = edge_of(x);
    captures.push_back({edge.node.get(), edge.output, {}});
  }
  const ModeGuard<&Modes::record> recording(options.create_graph);
  BackwardRun run(options, &captures);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check(outputs[i].requires_grad(), "grad: an output requires no gradient");
    run.start(edge_of(outputs[i]),
              seed_for(outputs[i], seeds.empty() ? Tensor() : seeds[i], false));
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

void at_end_of_backward(std::function<void()> callback) {
  BackwardRun* run = BackwardRun::current();
  check<InternalError>(run != nullptr, "at_end_of_backward: no backward pass is under way");
  run->callbacks.push_back(std::move(callback));
}

}  // namespace tessera
