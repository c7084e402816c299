#include <tessera/core/autograd/leaf_run.h>

#include <utility>

#include <tessera/core/autograd/accumulation.h>
#include <tessera/core/autograd/contributions.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/loop.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

void LeafRun::expect(bool rows) {
  ++pending_;
  uses_ += rows ? 0 : 1;
}

std::size_t LeafRun::bytes_apart() const {
  return sum_.defined() && sum_.microbatches().per_microbatch ? sum_.nbytes() : 0;
}

void LeafRun::add(Tensor gradient) {
  add_contribution(sum_, std::move(gradient), leaf_->meta);
}

void LeafRun::add_put_off(bool for_sink) {
  if (put_off_.empty()) {
    return;
  }
  const bool alone = !sum_.defined();
  GradientSink* sink = alone && for_sink ? leaf_->sink.get() : nullptr;
  const Tensor destination = sink != nullptr ? sink->destination(*leaf_) : Tensor();
  for (Tensor& gradient : sum_uses(std::exchange(put_off_, {}), alone, destination)) {
    add(std::move(gradient));
  }
}

/// What the leaf has once a microbatch, a mean over its samples say, has a gradient for each.
void LeafRun::add_up_microbatches(GradientSink* into) {
  if (sum_.defined() && sum_.microbatches().per_microbatch &&
      !leaf_->meta.microbatches.per_microbatch) {
    sum_ = sum_microbatches(sum_, into != nullptr ? into->destination(*leaf_) : Tensor());
  }
}

void LeafRun::hand_over_dense() {
  GradientSink* sink = leaf_->sink.get();
  if (sink == nullptr || !sum_.defined()) {
    return;
  }
  add_up_microbatches(sink);
  sink->take_dense(*leaf_, std::exchange(sum_, Tensor()));
  handed_over_ = true;
}

Tensor LeafRun::take_sum() {
  add_up_microbatches(nullptr);
  Tensor total = std::exchange(sum_, Tensor());
  if (const SparseGradient all = merge_uses(std::exchange(rows_, {})); all.defined()) {
    total = tessera::add_sparse(total, all, leaf_->meta);
  }
  return leaf_->run_hooks(std::move(total));
}

/// A loop inside a pass of a step that has more runs once in each, and what it adds to a
/// parameter's gradient is there as often as the step has passes.
void LeafRun::check_not_repeated() const {
  const Loop* loop = Context::current().loop.get();
  if (loop == nullptr || !loop->is_repeated()) [[likely]] {
    return;
  }
  const std::shared_ptr<const std::string> name = leaf_->name.lock();
  check<Unsupported>(
      name == nullptr,
      "backward: an evaluation inside a training step's pass adds to the "
      "gradient of \"",
      name == nullptr ? "" : *name, "\", once in each of the step's passes; got a pass of ",
      loop->training_around()->pass.count, " of ", loop->training_around()->pass.grain,
      " microbatches: take gradients by grad(), or evaluate in "
      "`if (optimizer.step().ended)`");
}

void LeafRun::complete(ReachedLeaves& reached, GradientScale scale) {
  if (leaf_->frozen && leaf_->sink == nullptr) {  // a sink looks for itself
    sum_ = Tensor();
    rows_.clear();
    return;
  }
  check_not_repeated();
  SparseGradient rows = merge_uses(std::exchange(rows_, {}));
  if (leaf_->sink != nullptr) {
    hand_over_dense();
    leaf_->sink->complete(*leaf_, std::move(rows));
    return leaf_->run_ready_hooks();
  }
  add_up_microbatches(nullptr);
  Contribution total{.dense = std::exchange(sum_, Tensor()), .rows = std::move(rows)};
  const Pass& pass = Context::current().pass;
  if (pass.samples == 0 || pass.count == pass.grain) {
    reached.add(*leaf_, std::move(total), scale);
  } else {
    add_to_accumulation(*leaf_, std::move(total));
  }
  leaf_->run_ready_hooks();
}

}  // namespace tessera
