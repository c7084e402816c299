#include <tessera/nn/tree/module.h>

#include <typeinfo>

#include <tessera/core/base/context.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {

Tensor Module::call_as(const std::string& key, const Tensor& x) const {
  check<RuntimeError>(class_->type != nullptr, detail::demangle(typeid(*this).name()),
                      ": was not made by nn::make or as a Child, so its forward is not known; "
                      "write nn::make<",
                      detail::demangle(typeid(*this).name()), ">(...)");
  check<NotImplementedError>(class_->call != nullptr || class_->signature != nullptr, class_name(),
                             " does not implement forward");
  check<Unsupported>(class_->call != nullptr, class_name(), ": forward does not take one tensor");
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
