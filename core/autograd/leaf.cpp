#include <tessera/core/autograd/leaf.h>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {
namespace {

/// By number of the backward in its pass.
std::map<std::size_t, std::vector<Ref<LeafNode>>>& open_leaves() {
  thread_local std::map<std::size_t, std::vector<Ref<LeafNode>>> leaves;
  return leaves;
}

/// The gradient becomes `grad` itself when nobody else holds it.
void add_to_grad(LeafNode& leaf, Tensor gradient) {
  if (leaf.grad.defined()) {
    accumulate(leaf.grad, gradient);
    return;
  }
  leaf.grad = is_exclusive(gradient) || grad_enabled() ? std::move(gradient) : clone(gradient);
}

void finish(LeafNode& leaf, Contribution total) {
  if (total.rows.defined()) {
    const Tensor in_place = is_exclusive(total.dense) && !grad_enabled() ? total.dense : Tensor();
    total.dense = add_rows(total.dense, total.rows, leaf.meta, in_place);
  }
  add_to_grad(leaf, std::move(total.dense));
}

/// The default sink. In a step of several passes it waits for the last one.
void add_pass(LeafNode& leaf, Contribution contribution) {
  const Pass& pass = Context::current().pass;
  if (pass.samples == 0 || pass.count == pass.grain) {
    finish(leaf, std::move(contribution));
    return;
  }
  if (leaf.passes == nullptr) {
    leaf.passes = std::make_shared<PassRounds>();
  }
  PassTree& tree = leaf.passes->trees[backward_in_pass()];
  if (tree.empty()) {
    open_leaves()[backward_in_pass()].push_back(Ref<LeafNode>(&leaf));
  }
  if (contribution.rows.defined()) {
    tree.add_rows(std::move(contribution.rows));
  }
  if (contribution.dense.defined()) {
    tree.add(std::move(contribution.dense), pass.first, pass.count);
  }
}

}  // namespace

void complete_open_leaves() {
  const Pass& pass = Context::current().pass;
  const auto open = open_leaves().extract(backward_in_pass());
  if (open.empty()) {
    return;
  }
  for (const Ref<LeafNode>& leaf : open.mapped()) {
    auto tree = leaf->passes->trees.extract(open.key());
    finish(*leaf, tree.mapped().take(pass.grain));
    leaf->run_ready_hooks();
  }
}

void LeafNode::add(Tensor gradient) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else {
    accumulate(sum, gradient);
  }
}

void LeafNode::add_up_microbatches() {
  if (sum.defined() && sum.cut().stacked) {
    sum = sum_microbatches(sum, sink ? sink->destination(*this) : Tensor());
  }
}

void LeafNode::offer_dense() {
  const bool hooked = hooks != nullptr && !hooks->empty();
  if (sink == nullptr || hooked || !sum.defined() || grad_enabled()) {
    return;
  }
  add_up_microbatches();
  dense_taken = sink->take_dense(*this, sum);
}

void LeafNode::complete() {
  add_up_microbatches();
  Contribution total{.dense = std::exchange(sum, Tensor()), .rows = merge_uses(rows)};
  rows.clear();
  if (hooks != nullptr && !hooks->empty()) {
    if (total.rows.defined()) {
      total.dense = add_rows(total.dense, std::exchange(total.rows, {}), meta);
    }
    total.dense = run_gradient_hooks(hooks.get(), std::move(total.dense));
  }
  if (sink != nullptr) {
    sink->complete(*this, std::move(total));
  } else {
    add_pass(*this, std::move(total));
  }
  run_ready_hooks();
}

void LeafNode::run_ready_hooks() {
  if (ready_hooks == nullptr) {
    return;
  }
  ready_hooks->walk([this](const auto& entry) { entry.hook(*this); });
}

}  // namespace tessera
