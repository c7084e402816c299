// A line across the tape at which the gradients of several tensors are seen together.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Gets the gradients of a boundary's tensors, undefined where none arrived or none is wanted, and
/// returns those that go on, as many. Runs in backward, on the tape when that is recorded.
using BoundaryHook = std::function<std::vector<Tensor>(std::vector<Tensor> gradients)>;

/// Views of `tensors`, undefined ones as they are. Once backward has the gradients of all views
/// that require one, `hook` decides what the tensors get; it runs when at least one has arrived.
/// Where no tensor requires a gradient, or nothing is recorded, it never runs.
///
/// The views cannot be written to while ops are recorded: that would pass the hook by. An attempt
/// throws RuntimeError, and so does using a view after one of `tensors` was written to.
[[nodiscard]] std::vector<Tensor> make_boundary(std::span<const Tensor> tensors, BoundaryHook hook);

}  // namespace tessera
