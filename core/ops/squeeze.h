// Removing a dim of size 1.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Squeeze {
  static constexpr OpInfo info{
      .name = "squeeze", .doc = "x without one dim of size 1", .view = true};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x without dim `dim`, whose size must be 1.
[[nodiscard]] Tensor squeeze(const Tensor& x, int dim);

}  // namespace tessera
