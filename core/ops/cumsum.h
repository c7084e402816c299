// Running sums.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Cumsum {
  static constexpr OpInfo info{.name = "cumsum",
                               .doc = "sums of all elements up to each along a dim",
                               .linear = LinearIn::first};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Element i along `dim` is the sum of elements 0 to i of x; of integers and bools as i64.
[[nodiscard]] Tensor cumsum(const Tensor& x, int dim);

}  // namespace tessera
