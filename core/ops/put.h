// Writing at lists of positions.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Put {
  static constexpr OpInfo info{.name = "put",
                               .doc = "x with values written or added at lists of positions",
                               .saved_inputs = ~3U};
  struct Attrs {
    int first = 0;
    bool add = false;
    void fields(auto&& see) const { see("first", first), see("add", add); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with `values`, in the shape of what `take` would give, written to where it would take them
/// from. Of several values for one position the last stays, or with `add` all are added, in order,
/// in double.
[[nodiscard]] Tensor put(const Tensor& x, int first, std::span<const Tensor> lists,
                         const Tensor& values, bool add = false);
/// Puts the values into x itself.
const Tensor& put_(const Tensor& x, int first, std::span<const Tensor> lists, const Tensor& values,
                   bool add = false);

}  // namespace tessera
