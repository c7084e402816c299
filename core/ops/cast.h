// Conversion between dtypes.
#pragma once

#include <utility>

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Cast : Elementwise<1> {
  static constexpr OpInfo info{.name = "cast",
                               .doc = "the elements of x in another dtype",
                               .elementwise = true,
                               .linear = LinearIn::first};
  struct Attrs {
    DType dtype = DType::f32;
    void fields(auto&& see) const { see("dtype", dtype); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// x in `dtype`, rounded to nearest; x itself when it has that dtype already. Always a fresh tensor
/// with `copy`.
[[nodiscard]] Tensor cast(const Tensor& x, DType dtype, bool copy = false);
/// A dense copy of x, on the tape.
[[nodiscard]] inline Tensor clone(const Tensor& x) {
  return cast(x, x.dtype(), true);
}
/// x itself when it is dense and row-major, else a dense copy.
[[nodiscard]] inline Tensor contiguous(Tensor x) {
  return x.is_contiguous() ? std::move(x) : clone(x);
}

}  // namespace tessera
