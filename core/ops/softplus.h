// The smooth rectifier.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Softplus : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "softplus",
                               .doc = "log(1 + exp(beta * x)) / beta, or x beyond a threshold",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  struct Attrs {
    double beta = 1;
    double threshold = 20;
    void fields(auto&& see) const { see("beta", beta), see("threshold", threshold); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// ln(1 + e^(beta x)) / beta, and x where beta x > threshold; integers become f32. No complex
/// numbers.
[[nodiscard]] Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);

}  // namespace tessera
