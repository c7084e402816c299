#include <tessera/nn/functional/module_calls.h>

#include <typeinfo>

#include <tessera/nn/functional/pure_scope.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

[[noreturn]] void fail_to_call(const Module& module) {
  const ClassInfo& info = class_info(module);
  const std::string type = demangle(typeid(module).name());
  check<RuntimeError>(info.type != nullptr, type,
                      ": was not made by nn::make or as a Child, so its forward is not known; "
                      "write nn::make<",
                      type, ">(...)");
  check<NotImplementedError>(info.signature != nullptr, module.class_name(),
                             " does not implement forward");
  fail<Unsupported>(module.class_name(), ": forward does not take one tensor");
}

}  // namespace

Tensor call_as(const Module& module, const std::string& key, const Tensor& x) {
  // Texts for errors are made in the call that fails alone: they take longer than a call.
  const ClassInfo& info = class_info(module);
  if (info.type == nullptr || info.call == nullptr) [[unlikely]] {
    fail_to_call(module);
  }
  return info.call(module, key, x);
}

Tensor call(const Module& module, const Tensor& x) {
  const PureScope scope(module, {});
  Tensor y = module(x);
  scope.finish();
  return y;
}

std::pair<Tensor, ModulePtr> call_and_update(const Module& module, const Tensor& x) {
  PureScope scope(module, {});
  Tensor y = module(x);
  scope.finish();
  return {std::move(y), scope.updated()};
}

}  // namespace tessera::nn::detail
