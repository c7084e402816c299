// Exponential linear units: plain, scaled and continuously differentiable.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Elu : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{
      .name = "elu",
      .doc = "scale * x where x is positive, scale * alpha * (exp(input_scale * x) - 1) elsewhere",
      .elementwise = true,
      .in_place = true,
      .saved_inputs = 0b1};
  struct Attrs {
    double alpha = 1;
    double scale = 1;
    double input_scale = 1;
    void fields(auto&& see) const {
      see("alpha", alpha), see("scale", scale), see("input_scale", input_scale);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// x where x > 0, alpha (e^x - 1) elsewhere (Clevert et al., arXiv:1511.07289); integers become
/// f32. No complex numbers. The gradient at 0 is that of the left side, the second
/// derivative there 0, here and below.
[[nodiscard]] Tensor elu(const Tensor& x, double alpha = 1);
const Tensor& elu_(const Tensor& x, double alpha = 1);

/// scale elu(x, alpha) with the two numbers that keep mean 0 and variance 1 (Klambauer et al.,
/// "Self-Normalizing Neural Networks", NeurIPS 2017).
[[nodiscard]] Tensor selu(const Tensor& x);
const Tensor& selu_(const Tensor& x);

/// x where x > 0, alpha (e^(x / alpha) - 1) elsewhere (Barron, arXiv:1704.07483). Throws ValueError
/// for alpha 0.
[[nodiscard]] Tensor celu(const Tensor& x, double alpha = 1);
const Tensor& celu_(const Tensor& x, double alpha = 1);

}  // namespace tessera
