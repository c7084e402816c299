// The largest elements of windows, and the gradient. The ops need each other, so they live in one
// file.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/pooling.h>

namespace tessera {

/// Input x (N, C, in...), real. Outputs (N, C, out...): the largest element of each window, the
/// first of equal ones and the last NaN, and its index in the plane of x, counted row-major, as
/// i64. A window that lies in the padding alone has the least number there is, and the index -1.
struct MaxPool {
  static constexpr OpInfo info{.name = "max_pool",
                               .doc = "the largest elements of windows, and their indices",
                               .saved_outputs = 0b10};
  using Attrs = PoolOptions;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient (N, C, out...), indices (N, C, out...) of dtype i64. Output (N, C, size...):
/// zeros with the gradient added at its indices; -1 is none.
struct MaxPoolBackward {
  static constexpr OpInfo info{.name = "max_pool_backward",
                               .doc = "the gradient of max_pool: elements added at their indices",
                               .saved_inputs = 0b10};
  struct Attrs {
    Dims size;  ///< spatial sizes of x
    void fields(auto&& see) const { see("size", size); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x (N, C, in...) -> (N, C, out...) with out = (in + 2 padding - dilation (kernel - 1) - 1) /
/// stride + 1, rounded down or, in ceil mode, up.
[[nodiscard]] Tensor max_pool(const Tensor& x, const PoolOptions& options);

/// The pooled values and the indices of the largest elements as i64: of (n, c) counted in x[n][c].
struct MaxPooled {
  Tensor values, indices;
};
[[nodiscard]] MaxPooled max_pool_with_indices(const Tensor& x, const PoolOptions& options);

}  // namespace tessera
