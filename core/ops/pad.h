// Surrounding elements with a constant.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Pad {
  static constexpr OpInfo info{
      .name = "pad", .doc = "x with elements of one value before, between and after its own"};
  struct Attrs {
    Dims before;   ///< new elements in front, for each dim
    Dims after;    ///< at the end
    Dims between;  ///< between every two neighbours; empty means none
    Number value = 0;
    void fields(auto&& see) const {
      see("before", before), see("after", after), see("between", between), see("value", value);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with `padding.before[d]` elements in front of dim d, `after[d]` behind it, and `between[d]`
/// between neighbours, all of them `value`.
[[nodiscard]] Tensor pad(const Tensor& x, const Pad::Attrs& padding);

}  // namespace tessera
