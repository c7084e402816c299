// Scaled dot product attention, whole or causal, with grouped queries; memory linear in time.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/attention.h>

namespace tessera {

/// Inputs: q (batch, heads, queries, size), k and v (batch, kv_heads, keys, size), optionally a
/// mask that broadcasts to (batch, heads, queries, keys): bool, true where a query sees a key, or
/// floating, added to the scores. Any strides. Outputs: y (batch, heads, queries, size) and the
/// ScoreSums (batch, heads, queries, 2), f32 or f64.
struct Attention {
  static constexpr OpInfo info{.name = "attention",
                               .doc = "softmax(scale q k^T + mask) v",
                               .saved_inputs = 0b1111,
                               .saved_outputs = 0b11};
  using Attrs = AttentionAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.localise(output); }
};

/// Inputs: gradient, q, k, v, y, ScoreSums, optionally the mask. Outputs: the gradients of q, k
/// and v in their dtypes.
struct AttentionBackward {
  static constexpr OpInfo info{
      .name = "attention_backward", .doc = "the gradients of attention", .differentiable = false};
  using Attrs = AttentionAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.localise(output); }
};

struct AttentionOptions {
  bool causal = false;  ///< query i sees keys j <= i
  double scale = 0;     ///< of the scores; 0: 1 / sqrt(size of a head)
  double dropout = 0;   ///< probability that a weight is zeroed; keyed as in dropout.h
};

/// The attributes of a call that does what a caller asks; draws a key when there is dropout. `x`
/// holds the queries, samples in dim 0.
[[nodiscard]] AttentionAttrs attention_attrs(const Tensor& x, const AttentionOptions& options);

/// Attention of q (batch, heads, queries, size) to k and v (batch, kv_heads, keys, size), where
/// kv_heads divides heads. The mask, if defined, broadcasts to (batch, heads, queries, keys): bool,
/// true where a query sees a key, or floating, added to the scores; it gets no gradient. A query
/// that sees no key gives zeros. A mask hides keys by their weight alone, as in PyTorch: a nan in a
/// key or value behind it makes nan. What lies behind a causal query has no part in its result.
[[nodiscard]] Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionOptions& options = {}, const Tensor& mask = {});

}  // namespace tessera
