// The Gaussian error linear unit (Hendrycks and Gimpel, arXiv:1606.08415).
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct GeluAttrs {
  bool tanh_form = false;  ///< the approximation by tanh, as GPT-2 has it, instead of erf
  void fields(auto&& see) const { see("tanh_form", tanh_form); }
  friend bool operator==(const GeluAttrs&, const GeluAttrs&) = default;
};

struct Gelu : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "gelu",
                               .doc = "x times the normal distribution function of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  using Attrs = GeluAttrs;
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// x (1 + erf(x / sqrt 2)) / 2, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, with all
/// digits far left of 0 too; nan for -infinity. Integers become f32. No complex numbers.
[[nodiscard]] Tensor gelu(const Tensor& x, bool tanh_form = false);

}  // namespace tessera
