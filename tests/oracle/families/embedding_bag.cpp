#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/embedding_bag.h>
#include <tessera/nn/layers/embedding_bag.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BagMode mode_of(const Attributes& a) {
  static const std::map<std::string, BagMode> modes{
      {"sum", BagMode::sum}, {"mean", BagMode::mean}, {"max", BagMode::max}};
  return modes.at(a.text("mode", "mean"));
}

/// The weights of samples, which must be of the table's dtype.
Tensor weights_of(const NamedTensors& in, DType dtype) {
  const Tensor weights = in["per_sample_weights"];
  return weights.defined() ? cast(weights, dtype) : weights;
}

Tensor embedding_bag_function(const NamedTensors& in, const Attributes& a) {
  const BagAttrs options{.mode = mode_of(a), .padding_idx = a.integer("padding_idx", -1)};
  return embedding_bag(in["weight"], in["ids"], in["offsets"], options,
                       weights_of(in, in["weight"].dtype()));
}

BuiltLayer embedding_bag_layer(const Attributes& a) {
  nn::EmbeddingBagOptions options{.mode = mode_of(a)};
  if (a.has("padding_idx")) {
    options.padding_idx = a.integer("padding_idx");
  }
  auto module =
      nn::make<nn::EmbeddingBag>(a.integer("num_embeddings"), a.integer("embedding_dim"), options);
  return {
      module, [module](const NamedTensors& in) -> std::vector<Tensor> {
        return {module(in["ids"], in["offsets"], weights_of(in, module->weight.value().dtype()))};
      }};
}

const Counterparts<Layer> kEmbeddingBag{
    {"EmbeddingBag", {embedding_bag_layer, embedding_bag_function}}};

}  // namespace
}  // namespace tessera::oracle
