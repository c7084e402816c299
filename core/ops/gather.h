// Elements picked along a dim by an index tensor.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Gather {
  static constexpr OpInfo info{.name = "gather",
                               .doc = "x at positions given for one dim",
                               .saved_inputs = 0b10,
                               .linear = LinearIn::first};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// y[i][j][k] = x[i][index[i][j][k]][k] for dim 1, and alike. `index` is i64 with the number of
/// dims of x, and in the others at most its sizes; y has its shape. The gradient adds where an
/// element was picked twice. Throws InvalidArgument for an index out of range.
[[nodiscard]] Tensor gather(const Tensor& x, int dim, const Tensor& index);

}  // namespace tessera
