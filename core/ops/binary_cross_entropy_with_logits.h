// Binary cross entropy of logits, element by element.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

/// Inputs: x, target and, if given, the weight w of positive examples, broadcast. Output, with
/// softplus(x) = log(1 + e^x): w target softplus(-x) + (1 - target) softplus(x), which is
/// -(w target log(p) + (1 - target) log(1 - p)) for p = sigmoid(x). See
/// nn/loss/bce_with_logits_loss.h for the loss of a batch.
struct BinaryCrossEntropyWithLogits : Elementwise<3> {
  static constexpr OpInfo info{.name = "binary_cross_entropy_with_logits",
                               .doc = "binary cross entropy of sigmoid(x) and target, broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b111};
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

}  // namespace tessera
