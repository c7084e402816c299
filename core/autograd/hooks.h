// Hooks on gradients.
#pragma once

#include <functional>

#include <tessera/core/autograd/node.h>

namespace tessera {

/// Removes its hook when destroyed or told to; does nothing when the hook's owner is gone.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}
  HookHandle(HookHandle&& other) noexcept { std::swap(remove_, other.remove_); }
  HookHandle& operator=(HookHandle&& other) noexcept {
    std::swap(remove_, other.remove_);
    return *this;
  }
  ~HookHandle() { remove(); }
  void remove() {
    if (remove_) {
      std::exchange(remove_, nullptr)();
    }
  }
  /// The hook stays for good.
  void release() { remove_ = nullptr; }

 private:
  std::function<void()> remove_;
};

/// Calls `hook` with the gradient of `x` each time one is computed; what it returns replaces the
/// gradient, undefined keeps it. `x` may be a leaf or computed; hooks run in registration order.
/// Throws InvalidArgument when `x` requires no gradient.
[[nodiscard]] HookHandle register_gradient_hook(const Tensor& x, GradientHook hook);

/// Calls `hook` once per backward that reaches the leaf `x`, after the gradient is complete. The
/// hook must not block: it enqueues and returns.
[[nodiscard]] HookHandle register_ready_hook(const Tensor& x, std::function<void(LeafNode&)> hook);

}  // namespace tessera
