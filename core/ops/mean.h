// Means over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Mean : OverDims {
  static constexpr OpInfo info{.name = "mean",
                               .doc = "mean over some dims",
                               .linear = LinearIn::first,
                               .over_samples = OverPass::mean};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// The mean over `dims`, all when empty; nan of nothing. No integers.
[[nodiscard]] Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
