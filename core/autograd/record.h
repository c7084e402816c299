// Putting a call on the tape.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Records that `op` computed `outputs` from `inputs`. Some input requires a gradient.
void record(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
            Outputs& outputs);

}  // namespace tessera
