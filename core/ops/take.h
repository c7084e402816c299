// Elements or slices at lists of positions.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Take {
  static constexpr OpInfo info{.name = "take",
                               .doc = "x at lists of positions for some neighbouring dims",
                               .saved_inputs = ~1U};
  struct Attrs {
    int first = 0;  ///< the first indexed dim; each list belongs to the next one
    void fields(auto&& see) const { see("first", first); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Replaces dims `first`, `first` + 1, ... of x, one a list in `lists` (i64, all of one shape J),
/// by the dims of J: y[j] = x[lists[0][j], lists[1][j], ...]. Negative positions count from the
/// end. The gradient adds where a position occurs twice. Throws InvalidArgument for one out of
/// range.
[[nodiscard]] Tensor take(const Tensor& x, int first, std::span<const Tensor> lists);

}  // namespace tessera
