#include <tessera/nn/tree/module.h>

#include <typeinfo>

#include <tessera/core/base/context.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {

namespace {

[[noreturn]] void fail_to_call(const Module& module) {
  const ClassInfo& info = module.class_info();
  const std::string type = detail::demangle(typeid(module).name());
  check<RuntimeError>(info.type != nullptr, type,
                      ": was not made by nn::make or as a Child, so its forward is not known; "
                      "write nn::make<",
                      type, ">(...)");
  check<NotImplementedError>(info.signature != nullptr, module.class_name(),
                             " does not implement forward");
  fail<Unsupported>(module.class_name(), ": forward does not take one tensor");
}

}  // namespace

Tensor Module::call_as(const std::string& key, const Tensor& x) const {
  // Texts for errors are made in the call that fails alone: they take longer than a call.
  if (class_->type == nullptr || class_->call == nullptr) [[unlikely]] {
    fail_to_call(*this);
  }
  return class_->call(*this, key, x);
}

CallHooks& Module::own_call_hooks() {
  if (call_hooks_ == nullptr) {
    call_hooks_ = std::make_unique<CallHooks>();
  }
  return *call_hooks_;
}

StateHooks& Module::own_state_hooks() {
  if (state_hooks_ == nullptr) {
    state_hooks_ = std::make_unique<StateHooks>();
  }
  return *state_hooks_;
}

}  // namespace tessera::nn
