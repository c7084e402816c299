#include <tessera/core/ops/embedding.h>
#include <tessera/nn/layers/embedding.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer embedding_layer(const Attributes& a) {
  nn::EmbeddingOptions options;
  if (a.has("padding_idx")) {
    options.padding_idx = a.integer("padding_idx");
  }
  return layer<nn::Embedding>(a.integer("num_embeddings"), a.integer("embedding_dim"), options);
}

Tensor embedding_function(const NamedTensors& in, const Attributes& a) {
  if (!a.has("padding_idx")) {
    return embedding(in["weight"], in["ids"]);
  }
  return embedding(in["weight"], in["ids"], a.integer("padding_idx"));
}

const Counterparts<Layer> kEmbedding{{"Embedding", {embedding_layer, embedding_function}}};

}  // namespace
}  // namespace tessera::oracle
