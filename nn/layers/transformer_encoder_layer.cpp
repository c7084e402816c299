#include <tessera/nn/layers/transformer_encoder_layer.h>

#include <tessera/core/ops/add.h>

namespace tessera::nn {

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(this, "self_attn", d_model, nhead, attention_options(options)),
      linear1(this, "linear1", d_model, options.dim_feedforward, linear_options(options)),
      dropout(this, "dropout", options.dropout),
      linear2(this, "linear2", options.dim_feedforward, d_model, linear_options(options)),
      norm1(this, "norm1", d_model, norm_options(options)),
      norm2(this, "norm2", d_model, norm_options(options)),
      dropout1(this, "dropout1", options.dropout),
      dropout2(this, "dropout2", options.dropout),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const AttentionMasks& masks) const {
  return dropout1(attend_to(self_attn, x, x, masks));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) const {
  return dropout2(linear2(dropout(transformer_activation(linear1(x), options_.activation))));
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const AttentionMasks& masks) const {
  if (options_.norm_first) {
    const Tensor x = src + attend(norm1(src), masks);
    return x + feed_forward(norm2(x));
  }
  const Tensor x = norm1(src + attend(src, masks));
  return norm2(x + feed_forward(x));
}

}  // namespace tessera::nn
