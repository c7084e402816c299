// What a view knows of the tensor that it shows.
#pragma once

#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

/// True when the base of a view has been written to since the view's place on the tape was
/// recorded.
[[nodiscard]] inline bool is_stale(const TensorImpl& x) noexcept {
  return x.base &&
         x.base->epoch.load(std::memory_order_relaxed) != x.epoch.load(std::memory_order_acquire);
}

/// Whether gradients flow to or through `x`.
[[nodiscard]] inline bool is_on_tape(const TensorImpl& x) noexcept {
  return is_stale(x) || x.wants_gradient();  // in this order: another thread may settle the view
}

/// Makes `view`, fresh from an op on `shown`, remember what it is a view of.
void link_view(TensorImpl& view, const Ref<TensorImpl>& shown);

}  // namespace tessera
