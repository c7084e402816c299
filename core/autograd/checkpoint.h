// Activation checkpointing: trading computation for memory.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Runs `function` on `inputs` and keeps, of everything its gradients will read, the inputs and the
/// leaves (parameters) only, and of what modules read, the buffers. When backward first needs
/// something else, `function` runs once more, with the random numbers, module path, pass and
/// autocast of the first time, and each tensor made anew is freed as soon as it was used. Gradients
/// have the bits of the run without checkpointing.
///
/// `function` must compute the same both times and reach tensors from outside only as leaves or
/// through `inputs`; it is kept until backward ran. Modules see `is_recomputing()` and leave out
/// hooks and assignments; what a hook returned the first time stands for it the second. Threads
/// that draw random numbers in such regions at once need a Context each. Throws InvalidArgument in
/// backward when the second run saves other tensors than the first, or when a parameter, a buffer
/// or a hook's result that it reads was written to in between, and Unsupported for gradients of
/// gradients.
[[nodiscard]] Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input);
[[nodiscard]] std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& function,
    std::span<const Tensor> inputs);

/// True while a checkpointed region runs for the second time on this thread.
[[nodiscard]] bool is_recomputing() noexcept;

}  // namespace tessera
