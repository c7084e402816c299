#include <tessera/core/autograd/leaf.h>

#include <utility>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/open_rounds.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {

void LeafNode::add_to_grad(Contribution total) {
  Tensor& dense = total.dense;
  if (total.rows.defined()) {
    const Tensor in_place = is_exclusive(dense) && !grad_enabled() ? dense : Tensor();
    dense = add_rows(dense, total.rows, meta, in_place);
  }
  if (!grad.defined()) {
    // It becomes `grad` itself when nobody else holds it.
    grad = is_exclusive(dense) || grad_enabled() ? std::move(dense) : clone(dense);
  } else if (dense.dtype() == grad.dtype()) {
    // Into the new memory: a backward that throws gives the old gradient back.
    accumulate(dense, grad);
    grad = std::move(dense);
  } else {
    grad = grad + dense;
  }
}

void LeafNode::add(Tensor gradient) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else {
    accumulate(sum, gradient);
  }
}

void LeafNode::add_up_microbatches(GradientSink* into) {
  if (sum.defined() && sum.cut().stacked) {
    sum = sum_microbatches(sum, into != nullptr ? into->destination(*this) : Tensor());
  }
}

void LeafNode::offer_dense() {
  if (sink == nullptr || hooked() || !sum.defined() || grad_enabled()) {
    return;
  }
  add_up_microbatches(sink.get());
  dense_taken = sink->take_dense(*this, sum);
}

Tensor LeafNode::take_sum() {
  add_up_microbatches(nullptr);
  Tensor total = std::exchange(sum, Tensor());
  if (const RowGradient all = merge_uses(std::exchange(rows, {})); all.defined()) {
    total = add_rows(total, all, meta);
  }
  return run_gradient_hooks(hooks.get(), std::move(total));
}

void LeafNode::complete() {
  add_up_microbatches(sink.get());
  Contribution total;
  if (hooked()) {
    total.dense = take_sum();
  } else {
    total = {.dense = std::exchange(sum, Tensor()), .rows = merge_uses(std::exchange(rows, {}))};
  }
  const Pass& pass = Context::current().pass;
  if (sink != nullptr) {
    sink->complete(*this, std::move(total));
  } else if (pass.samples == 0 || pass.count == pass.grain) {
    add_to_grad(std::move(total));
  } else {
    add_to_open_round(*this, std::move(total));
  }
  run_ready_hooks();
}

void LeafNode::clear_scratch() {
  sum = Tensor();
  rows.clear();
  arrived = 0;
  dense_taken = false;
}

void LeafNode::run_ready_hooks() {
  if (ready_hooks == nullptr) {
    return;
  }
  ready_hooks->walk([this](const auto& entry) { entry.hook(*this); });
}

}  // namespace tessera
