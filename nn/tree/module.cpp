#include <tessera/nn/module.h>

#include <algorithm>
#include <set>

#include <tessera/core/base/context.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {
namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// Calls `visit(path, module)` for the tree, parents first; shared modules once each path.
template <class F>
void walk(const Module& module, const std::string& path, const F& visit) {
  visit(path, module);
  for (const ModulePtr& child : module.children()) {
    walk(*child, join(path, child->name()), visit);
  }
}

}  // namespace

void Module::describe(std::string class_name, Thunk thunk) {
  class_name_ = std::move(class_name);
  thunk_ = thunk;
}

Tensor Module::call(const Tensor& x) const {
  check<Unsupported>(thunk_ != nullptr, class_name_, ": forward does not take one tensor");
  return thunk_(*this, x);
}

void Module::check_name(std::string_view name) const {
  check(!name.empty(), class_name_, ": a name must not be empty");
  check(name.find_first_of("./") == std::string_view::npos, class_name_,
        ": a name must not hold '.' or '/'; got \"", name, "\"");
  const bool taken =
      std::ranges::any_of(slots_, [&](const auto& entry) { return entry.first == name; }) ||
      std::ranges::any_of(children_, [&](const ModulePtr& c) { return c->name() == name; });
  check(!taken, class_name_, ": the name \"", name, "\" is in use");
}

void Module::register_slot(std::string_view name, SlotPtr slot) {
  check_name(name);
  slots_.emplace_back(name, std::move(slot));
}

void Module::replace_slot(const SlotPtr& old, SlotPtr now) {
  const auto found =
      std::ranges::find_if(slots_, [&](const auto& entry) { return entry.second == old; });
  check(found != slots_.end(), class_name_, ": the parameter to tie is not this module's");
  found->second = std::move(now);
}

void Module::register_child(std::string_view name, ModulePtr child) {
  check_name(name);
  child->name_ = name;
  children_.push_back(std::move(child));
}

std::vector<std::pair<std::string, const Module*>> Module::named_modules() const {
  std::vector<std::pair<std::string, const Module*>> modules;
  std::set<const Module*> seen;
  walk(*this, "", [&](const std::string& path, const Module& module) {
    if (seen.insert(&module).second) {
      modules.emplace_back(path, &module);
    }
  });
  return modules;
}

Module& Module::get_submodule(std::string_view path) const {
  const Module* module = this;
  while (!path.empty()) {
    const std::string_view step = path.substr(0, path.find('.'));
    const auto found = std::ranges::find_if(
        module->children_, [&](const ModulePtr& child) { return child->name() == step; });
    check(found != module->children_.end(), "get_submodule: ", module->class_name_,
          " has no child \"", step, "\"");
    module = found->get();
    path.remove_prefix(std::min(path.size(), step.size() + 1));
  }
  return const_cast<Module&>(*module);
}

std::vector<std::pair<std::string, SlotPtr>> Module::named_slots() const {
  std::vector<std::pair<std::string, SlotPtr>> slots;
  walk(*this, "", [&](const std::string& path, const Module& module) {
    for (const auto& [name, slot] : module.slots_) {
      slots.emplace_back(join(path, name), slot);
    }
  });
  return slots;
}

std::vector<std::pair<std::string, Parameter>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Parameter>> parameters;
  std::set<const Slot*> seen;
  for (const auto& [name, slot] : named_slots()) {
    if (slot->kind == Slot::Kind::parameter && seen.insert(slot.get()).second) {
      parameters.emplace_back(name, Parameter(slot));
    }
  }
  return parameters;
}

std::vector<Parameter> Module::parameters() const {
  std::vector<Parameter> parameters;
  for (auto& [name, parameter] : named_parameters()) {
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<std::pair<std::string, Buffer>> Module::named_buffers() const {
  std::vector<std::pair<std::string, Buffer>> buffers;
  std::set<const Slot*> seen;
  for (const auto& [name, slot] : named_slots()) {
    if (slot->kind == Slot::Kind::buffer && seen.insert(slot.get()).second) {
      buffers.emplace_back(name, Buffer(slot));
    }
  }
  return buffers;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += numel_of(parameter.shape());
  }
  return count;
}

Module& Module::train(bool on) {
  for (const auto& [path, module] : named_modules()) {
    const_cast<Module*>(module)->training_ = on;
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

void Module::requires_grad_(bool on) {
  for (const Parameter& parameter : parameters()) {
    parameter.slot()->requires_grad = on;
    parameter.slot()->value.set_requires_grad(on);
  }
}

Module& Module::to(DType dtype) {
  check(is_differentiable(dtype), "to: needs a floating or complex dtype; got ", dtype);
  std::set<const Slot*> seen;
  for (const auto& [name, slot] : named_slots()) {
    if (seen.insert(slot.get()).second && is_differentiable(slot->dtype)) {
      slot->dtype = dtype;
      slot->value = cast(slot->value.detach(), dtype);
      slot->value.set_requires_grad(slot->requires_grad);
    }
  }
  return *this;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  if (hooks_ == nullptr) {
    hooks_ = std::make_unique<ForwardHooks>();
  }
  const std::uint64_t id = hooks_->add(std::move(hook));
  return HookHandle([weak = weak_from_this(), id] {
    if (const ModulePtr alive = weak.lock()) {
      alive->hooks_->remove(id);
    }
  });
}

HookHandle Module::register_forward_hook(ForwardHook hook) {
  if (hooks_ == nullptr) {
    hooks_ = std::make_unique<ForwardHooks>();
  }
  const std::uint64_t id = hooks_->add(std::move(hook));
  return HookHandle([weak = weak_from_this(), id] {
    if (const ModulePtr alive = weak.lock()) {
      alive->hooks_->remove(id);
    }
  });
}

void Module::materialize() {
  Context& context = Context::current();
  const std::uint64_t model = context.models_made++;
  const CategoryScope category(MemoryCategory::parameter);
  for (const auto& [name, slot] : named_slots()) {
    if (slot->value.defined()) {
      continue;
    }
    slot->name = name;
    slot->value = empty(slot->shape, {.dtype = slot->dtype});
    const RandomStream stream{.key = mix(mix(context.seed, model), hash_name(name))};
    slot->initializer(slot->value, stream);
    slot->value.set_requires_grad(slot->requires_grad);
  }
}

}  // namespace tessera::nn
