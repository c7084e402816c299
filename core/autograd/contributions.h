// Adding up what several uses of a tensor contribute to its gradient.
#pragma once

#include <tessera/core/autograd/node.h>

namespace tessera {

/// Adds `value` to `into`, which may be undefined; both are gradients of one tensor, described by
/// `meta`. A contribution that no sample had a part in is one of the whole pass: beside those that
/// came apart for each microbatch every microbatch gets its share of it. Throws Unsupported where
/// one use takes a tensor without borders as one entry a sample and another one does not.
void add_contribution(Tensor& into, Tensor&& value, const TensorMeta& meta);

/// Throws Unsupported when `gradient`, that of a whole pass for a leaf described by `meta`, has an
/// entry a sample although the leaf holds none: a parameter as long as the pass.
void check_fits_leaf(const Tensor& gradient, const TensorMeta& meta);

}  // namespace tessera
