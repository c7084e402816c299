// The smallest element over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Min {
  static constexpr OpInfo info{.name = "min",
                               .doc = "smallest element over some dims",
                               .saved_inputs = 0b1,
                               .saved_outputs = 0b1,
                               .over_samples = OverPass::least};
  using Attrs = ReduceAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// The smallest element over `dims`, all when empty; nan when there is one. Equal ones share the
/// gradient. Throws InvalidArgument for nothing.
[[nodiscard]] Tensor min(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
