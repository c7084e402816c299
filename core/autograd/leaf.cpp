#include <tessera/core/autograd/leaf.h>

#include <mutex>
#include <utility>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

GradChange LeafNode::add_to_grad(Contribution total, bool counted_nothing) {
  Tensor& dense = total.dense;
  if (total.rows.defined()) {
    const Tensor in_place = is_exclusive(dense) && !grad_enabled() ? dense : Tensor();
    dense = add_sparse(dense, total.rows, meta, in_place);
  }
  const std::lock_guard lock(mutex_);
  GradChange change{.before = grad_, .counted_nothing = counted_nothing_, .number = ++changes_};
  counted_nothing_ = counted_nothing && (!grad_.defined() || counted_nothing_);
  if (!grad_.defined()) {
    // It becomes `grad` itself when nobody else holds it.
    grad_ = is_exclusive(dense) ? std::move(dense) : clone(dense);
  } else if (dense.dtype() == grad_.dtype()) {
    // Into the new memory: a backward that throws gives the old gradient back.
    accumulate(dense, grad_);
    grad_ = std::move(dense);
  } else {
    grad_ = grad_ + dense;
  }
  return change;
}

void LeafNode::undo(GradChange change) {
  const std::lock_guard lock(mutex_);
  if (changes_ == change.number) {
    std::swap(grad_, change.before);
    counted_nothing_ = change.counted_nothing;
    --changes_;  // so that a change before it can be undone, too
  }
}

Tensor LeafNode::grad() const {
  const std::lock_guard lock(mutex_);
  return grad_;
}

void LeafNode::set_grad(Tensor gradient, bool counted_nothing) {
  const std::lock_guard lock(mutex_);
  std::swap(grad_, gradient);  // what was there goes after the lock
  counted_nothing_ = counted_nothing;
  given_ = false;
  ++changes_;
}

void LeafNode::give_grad(Tensor gradient) {
  set_grad(std::move(gradient));
  const std::lock_guard lock(mutex_);
  given_ = true;
}

bool LeafNode::grad_is_given() const {
  const std::lock_guard lock(mutex_);
  return grad_.defined() && given_;
}

bool LeafNode::counted_nothing() const {
  const std::lock_guard lock(mutex_);
  return grad_.defined() && counted_nothing_;
}

Tensor LeafNode::run_hooks(Tensor gradient) const {
  if (hooks == nullptr || hooks->empty()) {
    return gradient;
  }
  const ParameterHookScope scope;
  const std::shared_ptr<const std::string> of = name.lock();
  return run_gradient_hooks(hooks.get(), std::move(gradient),
                            of == nullptr ? std::string_view() : *of);
}

void LeafNode::run_ready_hooks() {
  if (ready_hooks == nullptr) {
    return;
  }
  ready_hooks->walk([this](const auto& entry) { entry.hook(*this); });
}

}  // namespace tessera
