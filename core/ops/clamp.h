// Limiting values to a range.
#pragma once

#include <limits>

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Clamp : Elementwise<1> {
  static constexpr OpInfo info{.name = "clamp",
                               .doc = "x, but at least `low` and at most `high`",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  struct Attrs {
    Number low = -std::numeric_limits<double>::infinity();
    Number high = std::numeric_limits<double>::infinity();
    void fields(auto&& see) const { see("low", low), see("high", high); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// min(max(x, low), high), in the dtype of x; nan stays nan. The gradient is that of x inside the
/// range, and 0 on its borders and outside. No complex numbers. Throws
/// ValueError for a range in which no integer of the dtype of x lies.
[[nodiscard]] Tensor clamp(const Tensor& x, Number low, Number high);
const Tensor& clamp_(const Tensor& x, Number low, Number high);

}  // namespace tessera
