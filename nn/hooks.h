// Hooks around a module's forward.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/core/base/hook_list.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

class Module;

/// Gets the tensor arguments of a call, in order; what it returns replaces them.
using ForwardPreHook = std::function<std::optional<std::vector<Tensor>>(
    const Module& module, std::span<const Tensor> arguments)>;

/// Gets the tensor arguments and the output of a call; what it returns replaces the output.
using ForwardHook = std::function<std::optional<Tensor>(
    const Module& module, std::span<const Tensor> arguments, const Tensor& output)>;

/// The hooks of one module, in registration order.
class ForwardHooks {
 public:
  RemovableHandle add(ForwardPreHook hook) { return pre_->add(std::move(hook)); }
  RemovableHandle add(ForwardHook hook) { return post_->add(std::move(hook)); }
  void before(const Module& module, std::vector<Tensor>& arguments) const;
  [[nodiscard]] Tensor after(const Module& module, std::span<const Tensor> arguments,
                             Tensor output) const;

 private:
  std::shared_ptr<HookList<ForwardPreHook>> pre_ = std::make_shared<HookList<ForwardPreHook>>();
  std::shared_ptr<HookList<ForwardHook>> post_ = std::make_shared<HookList<ForwardHook>>();
};

}  // namespace tessera::nn
