// Attention with several heads as a function of its weights.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <tessera/nn/layers/attention_weights.h>

namespace tessera::nn {

struct AttentionCall {
  std::int64_t num_heads = 1;  ///< divides E
  double dropout = 0;          ///< of attention weights
  bool add_zero_attn = false;  ///< one more key and value of zeros
  bool batch_first = false;    ///< tensors are (N, T, width), not (T, N, width)
};

/// What one call asks for. Masks are bool, true where a query does not see a key, or floating and
/// added to the scores.
struct AttendOptions {
  Tensor key_padding_mask = {};      ///< (N, S)
  bool need_weights = true;          ///< without them long inputs take less memory and time
  Tensor attn_mask = {};             ///< (L, S) or (N * num_heads, L, S)
  bool average_attn_weights = true;  ///< over heads
  bool is_causal = false;            ///< query i sees keys j <= i, whatever the masks say
};

/// The output and the weights of attention of queries to keys and values, as MultiheadAttention
/// gives them (multihead_attention.h, where the shapes are). Throws InvalidArgument for weights
/// that do not fit each other, and for tensors that do not fit them.
[[nodiscard]] std::pair<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionWeights& weights,
    const AttentionCall& call, const AttendOptions& options = {});

/// Attention with `out_proj` as the last map: (N, L, E) -> the same shape.
[[nodiscard]] std::pair<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionWeights& weights,
    const AttentionCall& call, const AttendOptions& options,
    const std::function<Tensor(const Tensor&)>& out_proj);

}  // namespace tessera::nn
