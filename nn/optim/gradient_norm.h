// The norm of all gradients, the same bits however the parameters are shared out.
#pragma once

#include <span>
#include <vector>

#include <tessera/nn/ownership.h>

namespace tessera::optim {

/// A gradient and the part of it that this rank looks at.
struct GradientPart {
  TensorRef gradient;
  nn::ElementRange range;  ///< begins at a multiple of kNormBlock
};

/// Sums of squares over blocks of kNormBlock elements, block after block of tensor after tensor;
/// zero for blocks outside the ranges.
[[nodiscard]] std::vector<double> sums_by_block(std::span<const GradientPart> parts);

}  // namespace tessera::optim
