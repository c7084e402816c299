#include <tessera/nn/layers/transformer_decoder.h>

namespace tessera::nn {

TransformerDecoder::TransformerDecoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, const TransformerLayerOptions& options,
                                       bool final_norm)
    : layers(this, "layers"),
      num_layers_(num_layers),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {
  check<ValueError>(num_layers >= 1, "TransformerDecoder: needs a layer; got ", num_layers);
  for (std::int64_t i = 0; i < num_layers; ++i) {
    layers->add(d_model, nhead, options);
  }
  if (final_norm) {
    norm.emplace(this, "norm", d_model, norm_options(options));
  }
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory,
                                   const AttentionMasks& masks,
                                   const AttentionMasks& memory_masks) const {
  Tensor x = tgt;
  for (const auto& layer : *layers) {
    x = layer(x, memory, masks, memory_masks);
  }
  return norm ? (*norm)(x) : x;
}

}  // namespace tessera::nn
