#include <tessera/core/ops/cast.h>
#include <tessera/nn/layers/embedding_bag.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer embedding_bag_layer(const Attributes& a) {
  static const std::map<std::string, BagMode> modes{
      {"sum", BagMode::sum}, {"mean", BagMode::mean}, {"max", BagMode::max}};
  nn::EmbeddingBagOptions options{.mode = modes.at(a.text("mode", "mean"))};
  if (a.has("padding_idx")) {
    options.padding_idx = a.integer("padding_idx");
  }
  auto module =
      nn::make<nn::EmbeddingBag>(a.integer("num_embeddings"), a.integer("embedding_dim"), options);
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            const Tensor weights = in["per_sample_weights"];
            const DType dtype = module->weight.value().dtype();
            return {module(in["ids"], in["offsets"],
                           weights.defined() ? cast(weights, dtype) : Tensor())};
          }};
}

const Counterparts<Layer> kEmbeddingBag{{"EmbeddingBag", {embedding_bag_layer}}};

}  // namespace
}  // namespace tessera::oracle
