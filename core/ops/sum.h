// Sums over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Sum {
  static constexpr OpInfo info{.name = "sum",
                               .doc = "sum over some dims",
                               .sums_microbatches = true,
                               .linear = LinearIn::first,
                               .over_samples = OverPass::sum};
  using Attrs = ReduceAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// The sum over `dims`, all when empty; of integers and bools as i64.
[[nodiscard]] Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
