#include <tessera/nn/hooks.h>

#include <tessera/core/base/error.h>

namespace tessera::nn {

void ForwardHooks::before(const Module& module, std::vector<Tensor>& arguments) const {
  for (const auto& [id, hook] : *pre_->entries()) {
    if (auto replacement = hook(module, arguments)) {
      check(replacement->size() == arguments.size(),
            "forward pre-hook: wrong number of tensors; got ", replacement->size(), ", expected ",
            arguments.size());
      arguments = *std::move(replacement);
    }
  }
}

Tensor ForwardHooks::after(const Module& module, std::span<const Tensor> arguments,
                           Tensor output) const {
  for (const auto& [id, hook] : *post_->entries()) {
    if (auto replacement = hook(module, arguments, output)) {
      output = *std::move(replacement);
    }
  }
  return output;
}

}  // namespace tessera::nn
