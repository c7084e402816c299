// Weighted sums of positions, which averages of windows and interpolation are, and the gradient.
// The ops are each other's gradients, so they live in one file.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/resampling.h>

namespace tessera {

/// Input x (N, C, in...), floating. Output (N, C, out...). See avg_pool.h and upsample.h.
struct Resample {
  static constexpr OpInfo info{.name = "resample",
                               .doc = "weighted sums of positions, along each spatial dim"};
  using Attrs = Resampling;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Input: gradient (N, C, out...). Output (N, C, in...).
struct ResampleBackward {
  static constexpr OpInfo info{.name = "resample_backward",
                               .doc = "the gradient of resample: each weight times the gradient"};
  using Attrs = Resampling;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

}  // namespace tessera
