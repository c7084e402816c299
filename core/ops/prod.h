// Products over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Prod : OverDims {
  static constexpr OpInfo info{.name = "prod",
                               .doc = "product over some dims",
                               .saved_inputs = 0b1,
                               .over_samples = OverPass::none};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// The product over `dims`, all when empty; of integers and bools as i64.
[[nodiscard]] Tensor prod(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
