// The tape as text.
#pragma once

#include <ostream>
#include <span>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Writes what `roots` were computed by, op by op from the oldest to the newest, a line each:
///
///     %0 = linear{dtype=f32}(f32 (2, 4), leaf "0.weight" f32 (3, 4), none) -> f32 (2, 3)
///     %1 = relu(%0) -> f32 (2, 3)
///
/// Inputs are other lines' outputs (`%3.1` where a line has several), leaves with the names of
/// parameters, or constants, of which the tape knows dtype and shape alone. A tensor that no
/// recorded op computed has no lines.
void print_tape(std::ostream& out, std::span<const Tensor> roots);
void print_tape(std::ostream& out, const Tensor& root);

}  // namespace tessera
