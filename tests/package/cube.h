// An op that Tessera does not have.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace outside {

struct Cube {
  static constexpr tessera::OpInfo info{
      .name = "outside_cube", .doc = "x * x * x", .elementwise = true, .saved_inputs = 0b1};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(tessera::Infer& c, const Attrs&);
  static void reference(tessera::Kernel& k, const Attrs&);
  static void vjp(tessera::Vjp& v, const Attrs&);
  static tessera::ShardRule shard(const tessera::Infer& c, const Attrs&);
};

[[nodiscard]] tessera::Tensor cube(const tessera::Tensor& x);

}  // namespace outside
