// Sums over a step's passes at leaves that wait for the last pass.
#pragma once

#include <optional>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/reached_leaves.h>

namespace tessera {

/// Adds what the current backward of a pass brought for `leaf` to what earlier passes of the step
/// brought. What another step left behind is dropped. Throws RuntimeError when the backward of an
/// earlier pass of this step threw.
void add_to_accumulation(LeafNode& leaf, Contribution contribution);

/// Keeps what the current pass's loss counted until the last pass. Returns the n of all passes of
/// the step, that of its first.
[[nodiscard]] double count_in_accumulation(const PassCounts& counts);

/// True where leaves wait for the last pass of the step that the current pass is of.
[[nodiscard]] bool has_accumulations();

/// Throws RuntimeError as add_to_accumulation does.
void check_no_pass_is_lost();

/// Completes the gradients of leaves that wait for the last pass's backward of this number, scaled
/// as `of_ranks` says or, without it, by what this process's passes counted. The engine calls it at
/// the end of backward in the last pass.
void complete_accumulations(ReachedLeaves& reached, std::optional<GradientScale> of_ranks);

/// Drops what the step's passes have brought: the backward of one of them threw.
void drop_accumulations();

}  // namespace tessera
