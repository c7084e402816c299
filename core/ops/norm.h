// Vector norms over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Norm {
  static constexpr OpInfo info{.name = "norm",
                               .doc = "p-norm over some dims",
                               .saved_inputs = 0b1,
                               .saved_outputs = 0b1,
                               .over_samples = OverPass::none};
  struct Attrs {
    ReduceAttrs reduce;
    double p = 2;
    void fields(auto&& see) const { see("reduce", reduce), see("p", p); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// (sum of |x|^p)^(1/p) over `dims`, all when empty; for p = 0 the number of elements that are not
/// zero, for infinity the largest size. The gradient is 0 where the norm has none, and so is the
/// second derivative. No integers.
[[nodiscard]] Tensor norm(const Tensor& x, double p = 2, const Dims& dims = {},
                          bool keepdim = false);

}  // namespace tessera
