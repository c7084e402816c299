// Dropout.
#pragma once

#include <tessera/core/ops/support/draw.h>
#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

/// Input: x. What its elements draw, by DropoutMask, says `draw`.
struct Dropout : Elementwise<1> {
  static constexpr OpInfo info{.name = "dropout",
                               .doc = "x with elements zeroed at random, the others scaled up",
                               .elementwise = true,
                               .in_place = true,
                               .draws = true};
  struct Attrs {
    double p = 0;  ///< probability of an element to be zeroed
    Draw draw;
    void fields(auto&& see) const { see("p", p), see("draw", draw); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.draw.box = output; }
};

/// x with every element zeroed with probability `p` and multiplied with 1 / (1 - p) otherwise. The
/// mask depends on the seed, the step, the running module and its number of draws in this pass, the
/// sample's index in the global batch and the element's place in the sample, and on nothing else;
/// backward makes it anew. Throws InvalidArgument for p outside [0, 1].
[[nodiscard]] Tensor dropout(const Tensor& x, double p);

/// What dropout multiplies the elements of a tensor of `shape` with, whose microbatches lie as
/// those of `x` do: 0 or 1 / (1 - p), in x's dtype.
[[nodiscard]] Tensor dropout_factors(const Tensor& x, const Shape& shape, double p);

}  // namespace tessera
