// Attention on queries, keys and values that one linear layer computed together: nothing is split,
// transposed or joined, forward or backward.
#pragma once

#include <tessera/core/ops/attention.h>

namespace tessera {

struct PackedAttentionAttrs {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  AttentionAttrs attention;
  void fields(auto&& see) const {
    see("heads", heads), see("kv_heads", kv_heads), see("attention", attention);
  }
  friend bool operator==(const PackedAttentionAttrs&, const PackedAttentionAttrs&) = default;
};

/// Input: qkv (batch, time, (heads + 2 kv_heads) size): the queries' heads one behind the other,
/// then the keys', then the values'. Outputs: y (batch, time, heads size) and the ScoreSums
/// (batch, heads, time, 2), f32 or f64.
struct PackedAttention {
  static constexpr OpInfo info{.name = "packed_attention",
                               .doc = "attention on packed queries, keys and values",
                               .saved_inputs = 0b1,
                               .saved_outputs = 0b11};
  using Attrs = PackedAttentionAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) {
    attrs.attention.first_sample += output.offset[0];
  }
};

/// Inputs: gradient and y (batch, time, heads size), qkv, ScoreSums, in the order gradient, qkv, y,
/// ScoreSums. Output: the gradient of qkv, packed like it.
struct PackedAttentionBackward {
  static constexpr OpInfo info{.name = "packed_attention_backward",
                               .doc = "the gradient of packed_attention",
                               .differentiable = false};
  using Attrs = PackedAttentionAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) {
    attrs.attention.first_sample += output.offset[0];
  }
};

/// Self-attention on qkv (batch, time, (heads + 2 kv_heads) size) -> (batch, time, heads size).
[[nodiscard]] Tensor packed_attention(const Tensor& qkv, std::int64_t heads, std::int64_t kv_heads,
                                      const AttentionOptions& options = {});

}  // namespace tessera
