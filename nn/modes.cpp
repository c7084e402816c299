#include <tessera/nn/modes.h>

#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/call_state.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

void visit_children_first(Module& module, const std::function<void(Module&)>& visit,
                          std::unordered_set<const Module*>* seen) {
  if (seen != nullptr && !seen->insert(&module).second) {
    return;
  }
  std::unordered_set<const Module*> here;  // one of a module's children under two names, once
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr && here.insert(child->module.get()).second) {
      visit_children_first(*child->module, visit, seen);
    }
  }
  visit(module);
}

}  // namespace

bool training(const Module& module) {
  return read_outside(CallState::current().training.value_or(ModuleAccess::data(module).training));
}

Module& train(Module& module, bool on) {
  for (const auto& [path, below] : all_modules(module)) {
    ModuleAccess::data(*below).training = on;
  }
  return module;
}

void zero_grad(Module& module, bool set_to_none) {
  for (const Parameter& parameter : module.parameters()) {
    const Tensor& value = parameter.slot()->value;
    const bool had = value.defined() && value.grad().defined();
    parameter.slot()->drop_grad();
    if (had && !set_to_none && !value.grad().defined()) {
      value.set_grad(zeros_like(value));
    }
  }
}

Module& requires_grad_(Module& module, bool on) {
  const std::vector<Parameter> all = module.parameters();
  for (const Parameter& parameter : all) {
    parameter.slot()->check_can_require(on);
  }
  for (const Parameter& parameter : all) {
    parameter.requires_grad_(on);
  }
  return module;
}

Module& apply(Module& module, const std::function<void(Module&)>& visit, bool once) {
  std::unordered_set<const Module*> seen;
  visit_children_first(module, visit, once ? &seen : nullptr);
  return module;
}

}  // namespace tessera::nn::detail
