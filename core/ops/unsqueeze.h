// A new dim of size 1.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Unsqueeze {
  static constexpr OpInfo info{
      .name = "unsqueeze", .doc = "x with a new dim of size 1", .view = true};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with a new dim of size 1 before dim `dim`; -1 puts it last.
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int dim);

}  // namespace tessera
