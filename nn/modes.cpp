// What is switched for a whole tree.
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

void visit_children_first(Module& module, const std::function<void(Module&)>& visit,
                          std::unordered_set<const Module*>* seen) {
  if (seen != nullptr && !seen->insert(&module).second) {
    return;
  }
  for (const ModulePtr& child : module.children()) {
    visit_children_first(*child, visit, seen);
  }
  visit(module);
}

}  // namespace

Module& Module::train(bool on) {
  for (Module* module : modules()) {
    module->training_ = on;
  }
  return *this;
}

void Module::zero_grad(bool set_to_none) {
  for (const Parameter& parameter : parameters()) {
    const Tensor& value = parameter.slot()->value;
    if (value.grad().defined()) {
      value.set_grad(set_to_none ? Tensor() : zeros_like(value));
    }
  }
}

Module& Module::requires_grad_(bool on) {
  for (const Parameter& parameter : parameters()) {
    parameter.slot()->requires_grad = on;
    parameter.slot()->value.set_requires_grad(on);
  }
  return *this;
}

Module& Module::apply(const std::function<void(Module&)>& visit, bool once) {
  std::unordered_set<const Module*> seen;
  visit_children_first(*this, visit, once ? &seen : nullptr);
  return *this;
}

Module& Module::to(DType dtype) {
  check<TypeError>(is_differentiable(dtype), "to(): floating or complex dtype required, got ",
                   dtype);
  std::unordered_set<const Slot*> seen;
  for (const auto& [name, slot] : named_slots()) {
    if (seen.insert(slot.get()).second && is_differentiable(slot->dtype)) {
      slot->dtype = dtype;
      slot->value = cast(slot->value.detach(), dtype);
      slot->value.set_requires_grad(slot->requires_grad);
    }
  }
  return *this;
}

}  // namespace tessera::nn
