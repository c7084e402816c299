// What is switched for a whole tree.
#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/call_state.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

void visit_children_first(Module& module, const std::function<void(Module&)>& visit,
                          std::unordered_set<const Module*>* seen) {
  if (seen != nullptr && !seen->insert(&module).second) {
    return;
  }
  std::unordered_set<const Module*> here;  // one of a module's children under two names, once
  for (const ChildEntryPtr& child : module.child_entries()) {
    if (child->module != nullptr && here.insert(child->module.get()).second) {
      visit_children_first(*child->module, visit, seen);
    }
  }
  visit(module);
}

}  // namespace

bool Module::training() const {
  return read_outside(CallState::current().training.value_or(training_));
}

Module& Module::train(bool on) {
  for (const auto& [path, module] : all_modules()) {
    module->training_ = on;
  }
  return *this;
}

void Module::zero_grad(bool set_to_none) {
  for (const Parameter& parameter : parameters()) {
    const Tensor& value = parameter.slot()->value;
    const bool had = value.defined() && value.grad().defined();
    parameter.slot()->drop_grad();
    if (had && !set_to_none && !value.grad().defined()) {
      value.set_grad(zeros_like(value));
    }
  }
}

Module& Module::requires_grad_(bool on) {
  const std::vector<Parameter> all = parameters();
  for (const Parameter& parameter : all) {
    parameter.slot()->check_can_require(on);
  }
  for (const Parameter& parameter : all) {
    parameter.requires_grad_(on);
  }
  return *this;
}

Module& Module::apply(const std::function<void(Module&)>& visit, bool once) {
  std::unordered_set<const Module*> seen;
  visit_children_first(*this, visit, once ? &seen : nullptr);
  return *this;
}

}  // namespace tessera::nn
