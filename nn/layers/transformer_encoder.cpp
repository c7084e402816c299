#include <tessera/nn/layers/transformer_encoder.h>

namespace tessera::nn {

TransformerEncoder::TransformerEncoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, const TransformerLayerOptions& options,
                                       bool final_norm)
    : layers(this, "layers"),
      num_layers_(num_layers),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {
  check<ValueError>(num_layers >= 1, "TransformerEncoder: needs a layer; got ", num_layers);
  for (std::int64_t i = 0; i < num_layers; ++i) {
    layers->add(d_model, nhead, options);
  }
  if (final_norm) {
    norm.emplace(this, "norm", d_model, norm_options(options));
  }
}

Tensor TransformerEncoder::forward(const Tensor& src, const AttentionMasks& masks) const {
  Tensor x = src;
  for (const auto& layer : *layers) {
    x = layer(x, masks);
  }
  return norm ? (*norm)(x) : x;
}

}  // namespace tessera::nn
