// Reordering of dims.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Permute {
  static constexpr OpInfo info{
      .name = "permute", .doc = "x with its dims in another order", .view = true};
  struct Attrs {
    Dims order;  ///< output dim d is input dim order[d]
    void fields(auto&& see) const { see("order", order); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with dim `order`[d] in place d. Each dim once; negative ones count from the end.
[[nodiscard]] Tensor permute(const Tensor& x, const Dims& order);

}  // namespace tessera
