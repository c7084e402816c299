// The rectified linear unit with a slope left of zero.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Prelu : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{.name = "prelu",
                               .doc = "x where it is positive, slope * x elsewhere, broadcast",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x where x > 0, a x elsewhere, with one a for all of x or one for each index of its dim 1: weight
/// (1) or (channels). The gradient at 0 is that of the left side (He et al., "Delving Deep into
/// Rectifiers", ICCV 2015). Throws TypeError for complex numbers, RuntimeError for a weight that is
/// not 1-D or, outside an AutocastScope, of another dtype than x, and ValueError when it has
/// neither 1 nor x.size(1) elements.
[[nodiscard]] Tensor prelu(const Tensor& x, const Tensor& weight);

/// x where x > 0, negative_slope x elsewhere.
[[nodiscard]] Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
const Tensor& leaky_relu_(const Tensor& x, double negative_slope = 0.01);

}  // namespace tessera
