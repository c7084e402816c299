// Whole slices picked along a dim.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct IndexSelect {
  static constexpr OpInfo info{.name = "index_select",
                               .doc = "slices of x along a dim, by position",
                               .saved_inputs = 0b10,
                               .linear = LinearIn::first};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// The slices of x along `dim` that `index` (n,) of dtype i64 names, in its order. The gradient
/// adds where a slice was picked twice. Throws InvalidArgument for an index out of range.
[[nodiscard]] Tensor index_select(const Tensor& x, int dim, const Tensor& index);

}  // namespace tessera
