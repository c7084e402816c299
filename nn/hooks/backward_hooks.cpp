#include <tessera/nn/hooks/backward_hooks.h>

#include <algorithm>

#include <tessera/core/autograd/boundary.h>
#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/mapped.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/hooks/call_hooks.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

/// The first tensor in a value; undefined when there is none.
Tensor first_tensor(const Value& value) {
  Tensor first;
  each_tensor(value, [&](const Tensor& x) { first = first.defined() ? first : x; });
  return first;
}

void refuse_mixture(bool mixed, const std::string& who) {
  check<RuntimeError>(!mixed, who, ": legacy and full backward hooks cannot be combined");
}

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  return mapped(tensors, [](const Tensor& x) { return x.defined() ? x.shape() : Shape(); });
}

/// Replaces the gradients, of tensors of `shapes`, by what a hook returned, if anything.
void replace(Grads& gradients, std::optional<Grads> returned, const std::vector<Shape>& shapes,
             const Module& module) {
  if (!returned) {
    return;
  }
  check<RuntimeError>(returned->size() == gradients.size(), "backward hook of ",
                      module.class_name(), " returned ", returned->size(), " gradients, expected ",
                      gradients.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tensor& gradient = (*returned)[i] = lay_as((*returned)[i], gradients[i]);
    check<RuntimeError>(!gradient.defined() || gradient.shape() == shapes[i], "backward hook of ",
                        module.class_name(), " returned a gradient of the wrong shape as number ",
                        i, "; got ", gradient.defined() ? gradient.shape() : shapes[i],
                        ", expected ", shapes[i]);
  }
  gradients = *std::move(returned);
}

/// The tensors among `values`, undefined in other places.
std::vector<Tensor> tensors_of(const Value::List& values) {
  return mapped(values,
                [](const Value& value) { return value.is<Tensor>() ? value.tensor() : Tensor(); });
}

void put_back(Value::List& values, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (tensors[i].defined()) {
      values[i] = tensors[i];
    }
  }
}

bool any_requires_grad(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors,
                             [](const Tensor& x) { return x.defined() && x.requires_grad(); });
}

template <class Hook>
void append(std::vector<Hook>& hooks, const HookList<Hook>& list) {
  list.walk([&](const auto& entry) { hooks.push_back(entry.hook); });
}

}  // namespace

void BackwardHooks::refuse_legacy(const std::string& who) const {
  refuse_mixture(!legacy->empty(), who);
}

void BackwardHooks::refuse_full(const std::string& who) const {
  refuse_mixture(!full->empty(), who);
}

void watch_for_legacy_hooks(const Module& module, const Value& output) {
  std::vector<BackwardHook> hooks;
  for (const CallHooks* all : hooks_on(module)) {
    if (all != nullptr) {
      append(hooks, *all->backward.legacy);
    }
  }
  const Tensor first = hooks.empty() ? Tensor() : first_tensor(output);
  if (!first.defined() || !first.requires_grad() || first.is_leaf()) {
    return;
  }
  log_once("legacy backward hooks of " + module.class_name(), LogLevel::warning,
           module.class_name(), ": legacy backward hooks see the gradients of the last op alone; ",
           "use register_full_backward_hook");
  if (!output.is<Tensor>()) {
    log_once("legacy backward hooks beside several outputs of " + module.class_name(),
             LogLevel::warning, module.class_name(),
             ": legacy backward hooks see the first tensor of ", output.kind(), " alone");
  }
  register_op_hook(first,
                   [self = module.shared_from_this(), hooks](Grads inputs, const Grads& outputs) {
                     for (const BackwardHook& hook : hooks) {
                       replace(inputs, hook(*self, inputs, outputs), {}, *self);
                     }
                     return std::optional(std::move(inputs));
                   });
}

std::shared_ptr<BackwardWatch> BackwardWatch::of(const Module& module) {
  const bool hooked = std::ranges::any_of(hooks_on(module), [](const CallHooks* hooks) {
    return hooks != nullptr && !(hooks->backward.pre->empty() && hooks->backward.full->empty());
  });
  return hooked && grad_enabled() ? std::make_shared<BackwardWatch>(module) : nullptr;
}

BackwardWatch::BackwardWatch(const Module& module)
    : module_(module.shared_from_this()), path_(current_module_path()) {
  for (const CallHooks* hooks : hooks_on(module)) {
    if (hooks != nullptr) {
      append(pre_, *hooks->backward.pre);
      append(full_, *hooks->backward.full);
    }
  }
}

void BackwardWatch::watch_inputs(Args& args) {
  inputs_ = args.size();
  const std::vector<Tensor> tensors = tensors_of(args);
  inputs_watched_ = any_requires_grad(tensors);
  input_shapes_ = shapes_of(tensors);
  put_back(args, make_boundary(tensors, [self = shared_from_this()](Grads gradients) {
             return self->at_inputs(std::move(gradients));
           }));
}

void BackwardWatch::watch_outputs(Value& output) {
  if (!output.is<Tensor>() && !output.is<Value::List>()) {
    log_once("backward hooks of " + module_->class_name(), LogLevel::warning, module_->class_name(),
             ": backward hooks see tensors and lists of them; the output is ", output.kind());
    return;
  }
  Value::List values = output.is<Tensor>() ? Value::List{output} : output.get<Value::List>();
  const std::vector<Tensor> tensors = tensors_of(values);
  output_shapes_ = shapes_of(tensors);
  put_back(values, make_boundary(tensors, [self = shared_from_this()](Grads gradients) {
             return self->at_outputs(std::move(gradients));
           }));
  output = output.is<Tensor>() ? values[0] : Value(std::move(values));
}

Grads BackwardWatch::run_pre_hooks(Grads grad_output) const {
  for (const BackwardPreHook& hook : pre_) {
    replace(grad_output, hook(*module_, grad_output), output_shapes_, *module_);
  }
  return grad_output;
}

Grads BackwardWatch::at_outputs(Grads grad_output) {
  const ModulePathOverride scope(path_);
  grad_output = run_pre_hooks(std::move(grad_output));
  if (inputs_watched_) {
    const std::lock_guard lock(mutex_);
    grad_outputs_[std::this_thread::get_id()] = {current_backward(), grad_output};
  } else if (!full_.empty()) {
    fire_without_inputs(grad_output);
  }
  return grad_output;
}

void BackwardWatch::fire_without_inputs(const Grads& grad_output) const {
  log_once("early backward hooks of " + module_->class_name(), LogLevel::warning,
           module_->class_name(), ": no input requires a gradient, so that its backward hooks run ",
           "when the gradients of its outputs are there");
  const Grads none(inputs_);
  for (const BackwardHook& hook : full_) {
    const std::optional<Grads> returned = hook(*module_, none, grad_output);
    check<RuntimeError>(!returned || std::ranges::none_of(*returned, &Tensor::defined),
                        "backward hook of ", module_->class_name(),
                        " returned gradients, but no input requires one");
  }
}

/// A gradient that came past the outputs, as in a double backward, is none of the hooks' business.
Grads BackwardWatch::at_inputs(Grads grad_input) {
  const auto grad_output = [this] {
    const std::lock_guard lock(mutex_);
    return grad_outputs_.extract(std::this_thread::get_id());
  }();
  if (grad_output.empty() || grad_output.mapped().first != current_backward()) {
    return grad_input;
  }
  const ModulePathOverride scope(path_);
  for (const BackwardHook& hook : full_) {
    replace(grad_input, hook(*module_, grad_input, grad_output.mapped().second), input_shapes_,
            *module_);
  }
  return grad_input;
}

}  // namespace tessera::nn
