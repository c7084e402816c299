#include <tessera/nn/layers/transformer_block.h>

#include <tessera/core/ops/add.h>

namespace tessera::nn {

TransformerBlock::TransformerBlock(std::int64_t width, std::int64_t heads,
                                   const TransformerBlockOptions& options)
    : ln_1(this, "ln_1", width, LayerNormOptions{.eps = options.eps, .bias = options.bias}),
      attn(this, "attn", width, heads,
           AttentionLayerOptions{.bias = options.bias,
                                 .dropout = options.dropout,
                                 .weight_init = options.weight_init,
                                 .projection_init = options.projection_init,
                                 .bias_init = options.bias_init}),
      ln_2(this, "ln_2", width, LayerNormOptions{.eps = options.eps, .bias = options.bias}),
      mlp(this, "mlp", width,
          MlpOptions{.bias = options.bias,
                     .dropout = options.dropout,
                     .weight_init = options.weight_init,
                     .projection_init = options.projection_init,
                     .bias_init = options.bias_init}),
      width_(width),
      heads_(heads),
      options_(options) {}

Tensor TransformerBlock::forward(const Tensor& x) const {
  const Tensor y = x + attn(ln_1(x));
  return y + mlp(ln_2(y));
}

}  // namespace tessera::nn
