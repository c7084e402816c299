#include <tessera/nn/layers/embedding_bag.h>

#include <tessera/nn/layers/embedding_table.h>

namespace tessera::nn {
namespace {

const char* text_of(BagMode mode) {
  if (mode == BagMode::max) {
    return "max";
  }
  return mode == BagMode::mean ? "mean" : "sum";
}

}  // namespace

EmbeddingBag::EmbeddingBag(std::int64_t count, std::int64_t width,
                           const EmbeddingBagOptions& options)
    : options_{.mode = options.mode, .include_last_offset = options.include_last_offset} {
  const auto padding = normalize_padding("EmbeddingBag", options.padding_idx, count);
  options_.padding_idx = padding.value_or(-1);
  weight = Parameter(this, "weight", table_shape("EmbeddingBag", count, width),
                     options.weight_init ? options.weight_init : table_init(padding));
}

Tensor EmbeddingBag::forward(const Tensor& ids, const Tensor& offsets,
                             const Tensor& per_sample_weights) const {
  return embedding_bag(weight, ids, offsets, options_, per_sample_weights);
}

std::string EmbeddingBag::extra_repr() const {
  const bool padded = options_.padding_idx >= 0;
  return table_text(weight.shape()) + ", mode='" + text_of(options_.mode) + "'" +
         padding_text(padded ? std::optional(options_.padding_idx) : std::nullopt);
}

}  // namespace tessera::nn
