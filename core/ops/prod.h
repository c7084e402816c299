// Products over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Prod {
  static constexpr OpInfo info{.name = "prod",
                               .doc = "product over some dims",
                               .saved_inputs = 0b1,
                               .over_samples = OverPass::none};
  using Attrs = ReduceAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// The product over `dims`, all when empty; of integers and bools as i64.
[[nodiscard]] Tensor prod(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
