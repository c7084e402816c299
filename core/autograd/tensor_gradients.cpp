// The members of Tensor that speak of gradients.
#include <span>
#include <string>
#include <utility>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/view.h>

namespace tessera {
namespace {

/// Throws InvalidArgument, naming the parameter whose value `x` is, unless `gradient` can be that
/// of `x`.
void check_given(const Tensor& x, const Tensor& gradient) {
  const MicrobatchLayout layout = gradient.microbatches();
  const bool shape_fits = gradient.shape() == x.shape() && layout.count == 1;
  const bool fits = gradient.dtype() == x.dtype() && gradient.device() == x.device();
  if (shape_fits && fits) {
    return;
  }
  const LeafNode* leaf = known_leaf_of(x);
  const auto name = leaf != nullptr ? leaf->name.lock() : nullptr;
  const std::string op =
      name == nullptr ? "set_grad" : detail::concat("set_grad of \"", *name, '"');
  const bool several = layout.count > 1;
  check(shape_fits, op, ": wrong shape; got ", gradient.shape(),
        several ? detail::concat(", which holds ", layout.count, " microbatches") : "",
        ", expected ", x.shape(), several ? " for all of them together" : "");
  check(fits, op, ": wrong dtype or device; got ", gradient.dtype(), " on ", gradient.device(),
        ", expected ", x.dtype(), " on ", x.device());
}

}  // namespace

Tensor& Tensor::set_requires_grad(bool on) {
  TensorImpl& x = get();
  check(is_leaf(), "set_requires_grad: the tensor was computed; call detach() first");
  check(!on || !x.inference || Modes::current().inference,
        "set_requires_grad: a tensor made under InferenceGuard cannot go on a tape; got shape ",
        x.shape, ", expected a clone(x) made after the guard");
  check(!on || is_differentiable(x.dtype), "set_requires_grad: wrong dtype; got ", x.dtype,
        ", expected a floating or complex dtype");
  x.inference = x.inference && !on;
  if (on) {
    static_cast<void>(meta_of(x));  // now: threads that use `x` later may not make it
  }
  x.set_wants_gradient(on);
  if (LeafNode* leaf = known_leaf_of(*this); leaf != nullptr) {
    leaf->frozen = !on;
  }
  return *this;
}

bool Tensor::is_leaf() const noexcept {
  if (!defined()) {
    return true;
  }
  return !is_stale(*impl_) && (impl_->autograd == nullptr || !impl_->autograd->producer);
}

Tensor Tensor::grad() const {
  const LeafNode* leaf = known_leaf_of(*this);
  return leaf != nullptr ? leaf->grad() : Tensor();
}

void Tensor::set_grad(Tensor gradient) const {
  if (!gradient.defined()) {
    if (LeafNode* leaf = known_leaf_of(*this)) {
      leaf->set_grad({});
    }
    return;
  }
  check(is_leaf(), "set_grad: the tensor was computed, and keeps no gradient; got shape ", shape(),
        ", expected a leaf");
  check_given(*this, gradient);
  leaf_of(*this).give_grad(std::move(gradient));
}

void Tensor::backward(const Tensor& gradient) const {
  tessera::backward(std::span(this, 1), std::span(&gradient, 1));
}

void Tensor::backward(const Tensor& gradient, const BackwardOptions& options) const {
  tessera::backward(std::span(this, 1), std::span(&gradient, 1), options);
}

}  // namespace tessera
