// Joining tensors along a dim.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Concat {
  static constexpr OpInfo info{
      .name = "concat", .doc = "the inputs one after another along a dim", .linear = LinearIn::all};
  using Attrs = DimAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Tensors of equal shapes but for dim `dim`, joined there; dtypes are promoted.
[[nodiscard]] Tensor concat(std::span<const TensorRef> pieces, int dim = 0);
[[nodiscard]] Tensor concat(std::initializer_list<TensorRef> pieces, int dim = 0);

}  // namespace tessera
