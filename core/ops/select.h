// One element along a dim.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Select {
  static constexpr OpInfo info{
      .name = "select", .doc = "element `index` of one dim, which goes away", .view = true};
  struct Attrs {
    int dim = 0;
    std::int64_t index = 0;
    void fields(auto&& see) const { see("dim", dim), see("index", index); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Element `index` of dim `dim`, without that dim; negative indices count from the end.
[[nodiscard]] Tensor select(const Tensor& x, int dim, std::int64_t index);

}  // namespace tessera
