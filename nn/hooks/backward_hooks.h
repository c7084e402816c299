// Hooks on the gradients of a module's inputs and outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tessera/core/base/hook_list.h>
#include <tessera/nn/hooks/forward_hooks.h>

namespace tessera::nn {

class Module;

/// One for each positional input, or each output, of a call; undefined for what is no tensor or has
/// no gradient.
using Grads = std::vector<Tensor>;

/// Runs before a module's gradients are computed; what it returns replaces those of its outputs.
using BackwardPreHook =
    std::function<std::optional<Grads>(const Module&, const Grads& grad_output)>;

/// Runs when the gradients of a module's inputs are there, or, where no input requires one, when
/// those of its outputs are; never where no output requires one. What it returns replaces the
/// inputs' gradients.
using BackwardHook = std::function<std::optional<Grads>(const Module&, const Grads& grad_input,
                                                        const Grads& grad_output)>;

namespace detail {

/// True for hooks of the kind; else a static assertion says how they are called.
template <class F>
constexpr bool check_backward_pre_hook() {
  constexpr bool kFits = HookOn<F, const Grads&>;  // compilers explain a concept at length
  static_assert(kFits,
                "the hook cannot be called with (const nn::Module&, const nn::Grads& grad_output)");
  return kFits;
}
template <class F>
constexpr bool check_backward_hook() {
  constexpr bool kFits =
      HookOn<F, const Grads&, const Grads&>;  // compilers explain a concept at length
  static_assert(kFits,
                "the hook cannot be called with (const nn::Module&, const nn::Grads& grad_input, "
                "const nn::Grads& grad_output)");
  return kFits;
}

}  // namespace detail

/// Hooks of these shapes that return new gradients, an optional of them, or nothing.
template <detail::HookOn<const Grads&> F>
BackwardPreHook backward_pre_hook(F hook) {
  return [hook = std::move(hook)](const Module& module, const Grads& grad_output) {
    return detail::optionally<Grads>([&] { return hook(module, grad_output); },
                                     [](auto&& r) { return std::optional<Grads>(r); });
  };
}
template <detail::HookOn<const Grads&, const Grads&> F>
BackwardHook backward_hook(F hook) {
  return [hook = std::move(hook)](const Module& module, const Grads& grad_input,
                                  const Grads& grad_output) {
    return detail::optionally<Grads>([&] { return hook(module, grad_input, grad_output); },
                                     [](auto&& r) { return std::optional<Grads>(r); });
  };
}

/// The backward hooks of one module, or of the process.
struct BackwardHooks {
  std::shared_ptr<HookList<BackwardPreHook>> pre = std::make_shared<HookList<BackwardPreHook>>();
  std::shared_ptr<HookList<BackwardHook>> full = std::make_shared<HookList<BackwardHook>>();
  std::shared_ptr<HookList<BackwardHook>> legacy = std::make_shared<HookList<BackwardHook>>();

  [[nodiscard]] bool empty() const noexcept {
    return pre->empty() && full->empty() && legacy->empty();
  }
  /// Throws RuntimeError when there are legacy hooks, or full ones, which do not go together; `who`
  /// has them.
  void refuse_legacy(const std::string& who) const;
  void refuse_full(const std::string& who) const;
};

/// Runs the legacy hooks on `module` when the gradients of the op that computed the first tensor of
/// `output` are there: they see those of that op's inputs, which are the module's own only when the
/// module is a single op.
void watch_for_legacy_hooks(const Module& module, const Value& output);

/// Watches the gradients of one call: the hooks are those that were there when it was made.
class BackwardWatch : public std::enable_shared_from_this<BackwardWatch> {
 public:
  /// Null when there are no hooks.
  static std::shared_ptr<BackwardWatch> of(const Module& module);
  explicit BackwardWatch(const Module& module);

  /// Puts views behind a boundary in place of the tensors among the positional arguments.
  void watch_inputs(Args& args);
  /// Watches an output that is a tensor or a list; others are left alone, with a warning.
  void watch_outputs(Value& output);

 private:
  Grads at_outputs(Grads grad_output);
  Grads at_inputs(Grads grad_input);
  [[nodiscard]] Grads run_pre_hooks(Grads grad_output) const;
  void fire_without_inputs(const Grads& grad_output) const;

  std::shared_ptr<const Module> module_;
  std::string path_;  ///< of the module, as errors in hooks name it
  std::vector<BackwardPreHook> pre_;
  std::vector<BackwardHook> full_;
  std::size_t inputs_ = 0;
  std::vector<Shape> input_shapes_;
  std::vector<Shape> output_shapes_;
  bool inputs_watched_ = false;  ///< some input requires a gradient
  std::mutex mutex_;
  /// What a backward, by its number, brought to the outputs, until it reaches the inputs; the
  /// latest of each thread: several may go through a graph that all of them keep.
  std::map<std::thread::id, std::pair<std::uint64_t, Grads>> grad_outputs_;
};

}  // namespace tessera::nn
