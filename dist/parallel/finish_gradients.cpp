#include <tessera/dist/parallel/finish_gradients.h>

#include <utility>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::dist {
namespace {

/// Adds what earlier backwards brought to the sum, or puts it there when this one did not use the
/// parameter.
void add_before(const ReducedParameter& parameter, bool used) {
  const Tensor sum = parameter.gradient();
  if (used) {
    static_cast<void>(call_into<Add>(sum, {parameter.before, sum}));
  } else {
    static_cast<void>(call_into<Cast>(sum, {parameter.before}, {DType::f32}));
  }
}

}  // namespace

void restore_gradient(ReducedParameter& parameter) {
  if (parameter.before.defined() || parameter.replaced) {
    LeafNode& leaf = leaf_of(parameter.value);
    Tensor before = std::exchange(parameter.before, Tensor());
    if (parameter.before_given && before.defined()) {
      leaf.give_grad(std::move(before));
    } else {
      leaf.set_grad(std::move(before), parameter.before_counted_nothing);
    }
    parameter.replaced = false;
  }
}

void settle_gradient(ReducedParameter& parameter) {
  if (parameter.replaced) {
    parameter.before = Tensor();
    parameter.replaced = false;
  }
}

namespace {

/// The mean over the global batch, as the hooks on the parameter's gradient leave it.
void finish_sum(const ReducedParameter& parameter, GradientScale scale) {
  const Tensor gradient = parameter.gradient();
  if (scale.factor != 1) {
    static_cast<void>(mul_(gradient, scale.factor));
  }
  LeafNode& leaf = leaf_of(parameter.value);
  if (leaf.hooks == nullptr || leaf.hooks->empty()) {
    return;
  }
  const Tensor sum = clone(gradient);                         // hooks may keep it
  if (parameter.before.defined() && leaf.grad().defined()) {  // which they may read
    leaf.set_grad(clone(parameter.before), leaf.counted_nothing());
  }
  static_cast<void>(call_into<Cast>(gradient, {leaf.run_hooks(sum)}, {DType::f32}));
}

void set_gradient(ReducedParameter& parameter, bool used, GradientScale scale) {
  if (!parameter.trained) {
    return restore_gradient(parameter);
  }
  LeafNode& leaf = leaf_of(parameter.value);
  const bool before = leaf.grad().defined() && parameter.before.defined();
  if (before) {
    add_before(parameter, used);
  }
  const bool nothing = scale.nothing && (!before || leaf.counted_nothing());
  leaf.set_grad(used || before ? parameter.gradient() : Tensor(), nothing);
  parameter.replaced = true;
}

}  // namespace

void keep_gradient(ReducedParameter& parameter) {
  const Tensor gradient = parameter.value.grad();
  if (!gradient.defined()) {
    parameter.before = Tensor();  // of an earlier pass, dropped since
  } else if (!parameter.before.defined()) {
    const CategoryScope category(MemoryCategory::gradient);
    parameter.before = clone(gradient);
    parameter.before_counted_nothing = counted_nothing(parameter.value);
    parameter.before_given = leaf_of(parameter.value).grad_is_given();
  }
}

void finish_gradients(std::span<ReducedParameter> parameters, const UsedParameters& table,
                      GradientScale scale) {
  for (ReducedParameter& parameter : parameters) {
    parameter.sums.end_backward();
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].trained && table.any(i, UsedParameters::used)) {
      finish_sum(parameters[i], scale);
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    set_gradient(parameters[i], table.any(i, UsedParameters::used), scale);
  }
}

}  // namespace tessera::dist
