// The end of the pipeline: a call infers its outputs, gets memory for them, and is launched.
#pragma once

#include <span>

#include <tessera/core/dispatch/pipeline.h>

namespace tessera {

/// Runs `call`, which has no stages before it any more.
void run(Call& call);

// `run` in its steps, for a stage that does something in between.

/// What the shape rule says of the outputs, with their devices and microbatch borders. Throws what
/// the rule throws.
[[nodiscard]] Infer infer_outputs(const Call& call);

/// Makes the outputs that `call` has no destinations for, and gives the destinations. Throws for
/// one that does not fit its spec or whose elements cannot be written to; nothing is changed then.
[[nodiscard]] Outputs prepare_outputs(Call& call, std::span<const OutputSpec> specs);

/// Gives the outputs, destinations too, the borders of their specs.
void mark_outputs(const Call& call, std::span<const OutputSpec> specs);

/// Launches the kernel, where one computes elements. Inputs that share memory with `destinations`,
/// but not their elements, are copied before.
void launch(const Call& call, const Outputs& destinations);

}  // namespace tessera
