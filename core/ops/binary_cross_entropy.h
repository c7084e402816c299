// Binary cross entropy of probabilities, element by element.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

/// Inputs: x and target, both in [0, 1], broadcast. Output: -(target log(x) + (1 - target)
/// log(1 - x)) with logarithms of at least -100. See nn/loss/bce_loss.h for the loss of a batch.
struct BinaryCrossEntropy : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{.name = "binary_cross_entropy",
                               .doc = "-(target log(x) + (1 - target) log(1 - x)), broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

}  // namespace tessera
