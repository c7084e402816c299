// Complex conjugation.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Conj {
  static constexpr OpInfo info{
      .name = "conj", .doc = "the complex conjugate of x", .elementwise = true};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
  static ShardRule shard(const Infer& c, const Attrs&);
};

/// The complex conjugate; a real x is returned as it is.
[[nodiscard]] Tensor conj(const Tensor& x);

}  // namespace tessera
