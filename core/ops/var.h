// The variance over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Var {
  static constexpr OpInfo info{.name = "var",
                               .doc = "variance over some dims",
                               .saved_inputs = 0b1,
                               .over_samples = OverPass::none};
  struct Attrs {
    ReduceAttrs reduce;
    double correction = 1;
    void fields(auto&& see) const { see("reduce", reduce), see("correction", correction); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Sum of squared distances from the mean over `dims` (all when empty), divided by their number
/// minus `correction`. No integers; of complex numbers the real variance.
[[nodiscard]] Tensor var(const Tensor& x, const Dims& dims = {}, bool keepdim = false,
                         double correction = 1);

}  // namespace tessera
