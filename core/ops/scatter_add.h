// Adding at positions given by an index tensor.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct ScatterAdd {
  static constexpr OpInfo info{.name = "scatter_add",
                               .doc = "x with `source` added at positions given for one dim",
                               .saved_inputs = 0b010,
                               .over_samples = OverPass::none};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with source[i][j][k] added to x[i][index[i][j][k]][k] for dim 1, and alike: what `gather`
/// takes back. `source` has the shape of `index` (i64). Sums are taken in the order of `index`, in
/// double, and rounded once. Throws InvalidArgument for an index out of range.
[[nodiscard]] Tensor scatter_add(const Tensor& x, int dim, const Tensor& index,
                                 const Tensor& source);

}  // namespace tessera
