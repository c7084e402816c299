// Reversing dims.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Flip {
  static constexpr OpInfo info{
      .name = "flip", .doc = "x backwards along some dims", .linear = LinearIn::first};
  struct Attrs {
    Dims dims;
    void fields(auto&& see) const { see("dims", dims); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with the order of elements reversed along each of `dims`.
[[nodiscard]] Tensor flip(const Tensor& x, const Dims& dims);

}  // namespace tessera
