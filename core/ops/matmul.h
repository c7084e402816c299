// Matrix products.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Matmul {
  static constexpr OpInfo info{.name = "matmul",
                               .doc = "products of matrices in a and b",
                               .saved_inputs = 0b11,
                               .linear = LinearIn::either,
                               .over_samples = OverPass::sum};
  struct Attrs {
    bool transpose_a = false;   ///< a holds its matrices transposed
    bool transpose_b = false;   ///< b holds its matrices transposed
    DType dtype = DType::f32;   ///< factors are rounded to it
    DType result = DType::f32;  ///< of the output
    void fields(auto&& see) const {
      see("transpose_a", transpose_a), see("transpose_b", transpose_b), see("dtype", dtype),
          see("result", result);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// a (..., n, k) times b (..., k, m) -> (..., n, m); dims in front broadcast. As in PyTorch a 1-D
/// operand is a row on the left or a column on the right, and its dim is absent in the result.
/// Dtypes are promoted; see AutocastScope for computing in 16 bits.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

/// The product of operands of at least two dims that may hold their matrices transposed.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b);

}  // namespace tessera
