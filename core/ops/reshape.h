// Another shape for the same elements.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Reshape {
  static constexpr OpInfo info{.name = "reshape",
                               .doc = "the elements of x, in row-major order, in another shape",
                               .view = true};
  struct Attrs {
    Shape shape;  ///< -1 stands for what is left, at most once
    void fields(auto&& see) const { see("shape", shape); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.shape = output.shape; }
};

/// x in `shape`, whose number of elements must be that of x; one size may be -1. A view where the
/// strides of x allow it, else a copy.
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
/// x with dims `first` to `last`, both included, merged into one.
[[nodiscard]] Tensor flatten(const Tensor& x, int first = 0, int last = -1);
/// x with dim `dim` in the shape `sizes`, of which one may be -1.
[[nodiscard]] Tensor unflatten(const Tensor& x, int dim, const Shape& sizes);

}  // namespace tessera
