#include <tessera/nn/layers/embedding.h>

#include <tessera/core/ops/embedding.h>
#include <tessera/nn/layers/embedding_table.h>

namespace tessera::nn {

Embedding::Embedding(std::int64_t count, std::int64_t width, const EmbeddingOptions& options)
    : padding_idx_(normalize_padding("Embedding", options.padding_idx, count)) {
  weight = Parameter(this, "weight", table_shape("Embedding", count, width),
                     options.weight_init ? options.weight_init : table_init(padding_idx_));
}

Tensor Embedding::forward(const Tensor& ids) const {
  return embedding(weight, ids, padding_idx_);
}

std::string Embedding::extra_repr() const {
  return table_text(weight.shape()) + padding_text(padding_idx_);
}

}  // namespace tessera::nn
