// Backward: walks the tape from the newest op to the oldest.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tessera/core/base/hook_list.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

struct BackwardOptions {
  bool keep_graph = false;    ///< keep what was saved, so that backward can run again
  bool create_graph = false;  ///< record the gradient computation too; implies keep_graph
};

/// Adds the gradients of `roots`, weighted with `seeds` (undefined: see Tensor::backward), to the
/// leaves they were computed from. When it throws, gradients are as before, and of a step of
/// several passes, all passes count as not run; a leaf's sink keeps what it was given, and the
/// graph is gone unless it was kept.
///
/// Threads may run backwards at once, also through shared nodes if all keep the graph; one that
/// does not keep it makes others that come later to a shared node throw. What they bring to shared
/// leaves is added to `grad` one whole backward's sum at a time, in the order in which threads get
/// there: with more than two of them the last bits may differ from run to run. A thread's failed
/// backward leaves a `grad` alone that another has added to meanwhile.
void backward(std::span<const Tensor> roots, std::span<const Tensor> seeds,
              const BackwardOptions& options = {});

/// Gradients of `outputs` with respect to `inputs`, returned and added to no leaf. An input that
/// the outputs do not depend on has an undefined gradient. `seeds` as in `backward`, but without
/// the factor of the grain; without any, each output is one number, or one a microbatch, and its
/// seed is 1. Hooks on gradients run for the inputs and what lies above them, ready hooks do not.
/// Threads share nothing but the graph, as in `backward`. Gradients of several inputs may be one
/// tensor, or one of `seeds`: clone what you write to.
[[nodiscard]] std::vector<Tensor> grad(std::span<const Tensor> outputs,
                                       std::span<const Tensor> inputs,
                                       std::span<const Tensor> seeds = {},
                                       const BackwardOptions& options = {});

/// Number of the backward pass that is under way on this thread, 0 outside one.
[[nodiscard]] std::uint64_t current_backward();

/// From now on runs `callback` when a backward of the current rank (its Context) begins, before
/// anything is computed; `grad` does not count.
RemovableHandle at_begin_of_backward(std::function<void()> callback);

/// Runs `ended` when the backward pass that is under way on this thread ends, after all gradients
/// are complete. Throws InternalError outside one.
void at_end_of_backward(std::function<void()> ended);
/// Runs `settled` when it is over and all that was to run at its end has run, or `failed` when it
/// or something of that throws. Neither may throw. Throws InternalError outside one.
void when_backward_is_over(std::function<void()> settled, std::function<void()> failed);

}  // namespace tessera
