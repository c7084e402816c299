// What the encoder and the decoder of a Transformer share.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/transformer_layer.h>

namespace tessera::nn {

/// Layers one after another, each beginning with values of its own, and perhaps a norm behind them.
template <class Layer>
class TransformerStack : public Module {
 public:
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(num_layers_, d_model_, nhead_, options_, norm.has_value());
  }

  Child<ModuleList<Layer>> layers;
  std::optional<Child<LayerNorm>> norm;

 protected:
  TransformerStack(const char* name, std::int64_t num_layers, std::int64_t d_model,
                   std::int64_t nhead, const TransformerLayerOptions& options, bool final_norm)
      : layers(this, "layers"),
        num_layers_(num_layers),
        d_model_(d_model),
        nhead_(nhead),
        options_(options) {
    check<ValueError>(num_layers >= 1, name, ": needs a layer; got ", num_layers);
    for (std::int64_t i = 0; i < num_layers; ++i) {
      layers->add(d_model, nhead, options);
    }
    if (final_norm) {
      norm.emplace(this, "norm", d_model, norm_options(options));
    }
  }

  /// x through all layers, which are given `others` too.
  [[nodiscard]] Tensor run(Tensor x, const auto&... others) const {
    for (const auto& layer : *layers) {
      x = layer(x, others...);
    }
    return norm ? (*norm)(x) : x;
  }

 private:
  std::int64_t num_layers_, d_model_, nhead_;
  TransformerLayerOptions options_;
};

}  // namespace tessera::nn
