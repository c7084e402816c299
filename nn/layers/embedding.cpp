#include <tessera/nn/layers/embedding.h>

#include <tessera/core/ops/embedding.h>
#include <tessera/nn/init/normal.h>

namespace tessera::nn {

Embedding::Embedding(std::int64_t count, std::int64_t width, const EmbeddingOptions& options)
    : weight(this, "weight", {count, width},
             options.weight_init ? options.weight_init : init::normal(0, 1)) {
  check(count >= 1 && width >= 1, "Embedding: sizes must be positive; got ", count, " rows of ",
        width);
}

Tensor Embedding::forward(const Tensor& ids) const {
  return embedding(weight, ids);
}

std::string Embedding::extra_repr() const {
  return tessera::detail::concat(weight.shape()[0], ", ", weight.shape()[1]);
}

}  // namespace tessera::nn
