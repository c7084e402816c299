// Broadcasting as a view.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/tensor_meta.h>

namespace tessera {

struct Expand {
  static constexpr OpInfo info{
      .name = "expand", .doc = "x repeated along dims of size 1, without a copy", .view = true};
  struct Attrs {
    Shape shape;
    void fields(auto&& see) const { see("shape", shape); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.shape = output.shape; }
};

/// A view of `x` in a shape that x broadcasts to; -1 keeps a dim's size.
[[nodiscard]] Tensor expand(const Tensor& x, const Shape& shape);

/// `gradient` of a sum, repeated to the shape of what was summed; one piece a microbatch goes to
/// the samples of its microbatch.
[[nodiscard]] Tensor expand_like(const Tensor& gradient, const TensorMeta& like);

}  // namespace tessera
