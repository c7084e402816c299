#include <tessera/nn/hooks.h>

namespace tessera::nn {

std::uint64_t ForwardHooks::add(ForwardPreHook hook) {
  pre_.emplace_back(next_id_, std::move(hook));
  return next_id_++;
}

std::uint64_t ForwardHooks::add(ForwardHook hook) {
  post_.emplace_back(next_id_, std::move(hook));
  return next_id_++;
}

void ForwardHooks::remove(std::uint64_t id) {
  const auto same = [id](const auto& entry) { return entry.first == id; };
  std::erase_if(pre_, same);
  std::erase_if(post_, same);
}

void ForwardHooks::before(const Module& module, std::vector<Tensor>& arguments) const {
  for (const auto& [id, hook] : pre_) {
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
  for (const auto& [id, hook] : post_) {
    if (auto replacement = hook(module, arguments, output)) {
      output = *std::move(replacement);
    }
  }
  return output;
}

}  // namespace tessera::nn
