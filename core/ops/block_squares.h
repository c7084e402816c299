// Sums of squares over fixed blocks: what a norm that does not depend on sharding is made of.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Inputs: tensors, dense, floating. Output: the sum of squares of every run of kBlock elements
/// (blocks), those of one tensor after those of another, f64.
struct BlockSquares {
  static constexpr OpInfo info{.name = "block_squares",
                               .doc = "sums of squares over runs of 65536 elements",
                               .differentiable = false};
  static constexpr std::int64_t kBlock = 65536;
  /// Number of blocks of a tensor of `numel` elements.
  [[nodiscard]] static constexpr std::int64_t blocks(std::int64_t numel) {
    return (numel + kBlock - 1) / kBlock;
  }
  using Attrs = NoAttrs;
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static ShardRule shard(const Infer& c, const Attrs&);
};

/// The sums of all blocks of `tensors` (blocks). A block is summed in f64 in a fixed order, which
/// is that of its elements, so that the sum of a block does not depend on what else is asked for.
[[nodiscard]] Tensor block_squares(std::span<const Tensor> tensors);

}  // namespace tessera
