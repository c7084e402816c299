// Swapping of two dims.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Transpose {
  static constexpr OpInfo info{.name = "transpose", .doc = "x with two dims swapped", .view = true};
  struct Attrs {
    int first = -2;
    int second = -1;
    void fields(auto&& see) const { see("first", first), see("second", second); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with two dims swapped; negative ones count from the end.
[[nodiscard]] Tensor transpose(const Tensor& x, int first = -2, int second = -1);

}  // namespace tessera
