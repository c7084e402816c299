#include <tessera/nn/layers/transformer_layer.h>

#include <tessera/core/ops/gelu.h>
#include <tessera/core/ops/relu.h>

namespace tessera::nn {

Tensor transformer_activation(const Tensor& x, TransformerActivation activation) {
  return activation == TransformerActivation::relu ? relu(x) : gelu(x);
}

MultiheadAttentionOptions attention_options(const TransformerLayerOptions& options) {
  return {.dropout = options.dropout, .bias = options.bias, .batch_first = options.batch_first};
}

LinearOptions linear_options(const TransformerLayerOptions& options) {
  return {.bias = options.bias};
}

LayerNormOptions norm_options(const TransformerLayerOptions& options) {
  return {.eps = options.layer_norm_eps, .bias = options.bias};
}

Tensor attend_to(const Child<MultiheadAttention>& attention, const Tensor& query,
                 const Tensor& memory, const AttentionMasks& masks) {
  const AttendOptions asked{.key_padding_mask = masks.key_padding_mask,
                            .need_weights = false,
                            .attn_mask = masks.mask,
                            .is_causal = masks.is_causal};
  return attention(query, memory, memory, asked).first;
}

}  // namespace tessera::nn
