// Hooks around a module's forward.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tessera/core/autograd/hooks.h>
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
  std::uint64_t add(ForwardPreHook hook);
  std::uint64_t add(ForwardHook hook);
  void remove(std::uint64_t id);
  void before(const Module& module, std::vector<Tensor>& arguments) const;
  [[nodiscard]] Tensor after(const Module& module, std::span<const Tensor> arguments,
                             Tensor output) const;

 private:
  std::uint64_t next_id_ = 0;
  std::vector<std::pair<std::uint64_t, ForwardPreHook>> pre_;
  std::vector<std::pair<std::uint64_t, ForwardHook>> post_;
};

}  // namespace tessera::nn
