// Writes through views, on the tape.
//
// A view shares memory with its base, so a write to one is a write to the other, and to every other
// view of the base. On the tape a write to view v of base b becomes two nodes: the op itself, which
// gives v a new producer, and b = view_scatter(b, v), which gives b one. All views, v among them,
// notice by the base's epoch that they are stale, and when they are next used their producer
// becomes as_strided(b).
#pragma once

#include <tessera/core/autograd/meta.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/core/tensor/view.h>

namespace tessera {

/// Gives a stale view a producer that reads the base as it is now.
void refresh_view(const Tensor& view);

/// Gives `x` a producer that is up to date where it is a stale view.
inline void settle_view(const Tensor& x) {
  if (is_stale(x.get())) [[unlikely]] {
    refresh_view(x);
  }
}

/// Throws RuntimeError, naming `op`, when `x` cannot be written to while gradients are on: a leaf
/// that requires a gradient, a view of one. Unsupported for views that recording cannot follow.
void check_write_on_tape(const char* op, const Tensor& x, bool recording);

/// Puts the consequences of a recorded write to `x` on the tape: its base and other views see it.
void spread_write(Tensor& x);

/// The elements of `x`, no view of anything, with its place on the tape as it is now: no later
/// write makes it stale.
[[nodiscard]] Tensor with_its_place(const Tensor& x);

/// A copy of `x` with its place on the tape: what an op saves that is about to overwrite x.
[[nodiscard]] Tensor snapshot(const Tensor& x);

}  // namespace tessera
