// The gradient of broadcasting.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/tensor_meta.h>

namespace tessera {

struct SumTo {
  static constexpr OpInfo info{.name = "sum_to",
                               .doc = "sum over the dims along which `shape` broadcasts to x",
                               .sums_microbatches = true,
                               .linear = LinearIn::first,
                               .over_samples = OverPass::sum};
  struct Attrs {
    Shape shape;
    void fields(auto&& see) const { see("shape", shape); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.shape = output.shape; }
};

/// Sums `x` to `shape`, which must broadcast to the shape of x: dims that x has in front and dims
/// where `shape` has 1 are summed over.
[[nodiscard]] Tensor sum_to(const Tensor& x, const Shape& shape, const Tensor& destination = {});

/// A gradient brought to the shape, dtype and microbatch borders of the tensor it belongs to: what
/// the gradient of an op with broadcasting inputs ends in.
[[nodiscard]] Tensor gradient_like(const Tensor& gradient, const TensorMeta& like,
                                   const Tensor& destination = {});

}  // namespace tessera
