#include <tessera/nn/layers/transformer_decoder_layer.h>

#include <tessera/core/ops/add.h>

namespace tessera::nn {

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(this, "self_attn", d_model, nhead, attention_options(options)),
      multihead_attn(this, "multihead_attn", d_model, nhead, attention_options(options)),
      linear1(this, "linear1", d_model, options.dim_feedforward, linear_options(options)),
      dropout(this, "dropout", options.dropout),
      linear2(this, "linear2", options.dim_feedforward, d_model, linear_options(options)),
      norm1(this, "norm1", d_model, norm_options(options)),
      norm2(this, "norm2", d_model, norm_options(options)),
      norm3(this, "norm3", d_model, norm_options(options)),
      dropout1(this, "dropout1", options.dropout),
      dropout2(this, "dropout2", options.dropout),
      dropout3(this, "dropout3", options.dropout),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {}

Tensor TransformerDecoderLayer::attend(const Tensor& x, const AttentionMasks& masks) const {
  return dropout1(attend_to(self_attn, x, x, masks));
}

Tensor TransformerDecoderLayer::attend_memory(const Tensor& x, const Tensor& memory,
                                              const AttentionMasks& masks) const {
  return dropout2(attend_to(multihead_attn, x, memory, masks));
}

Tensor TransformerDecoderLayer::feed_forward(const Tensor& x) const {
  return dropout3(linear2(dropout(transformer_activation(linear1(x), options_.activation))));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const AttentionMasks& masks,
                                        const AttentionMasks& memory_masks) const {
  if (options_.norm_first) {
    const Tensor x = tgt + attend(norm1(tgt), masks);
    const Tensor y = x + attend_memory(norm2(x), memory, memory_masks);
    return y + feed_forward(norm3(y));
  }
  const Tensor x = norm1(tgt + attend(tgt, masks));
  const Tensor y = norm2(x + attend_memory(x, memory, memory_masks));
  return norm3(y + feed_forward(y));
}

}  // namespace tessera::nn
