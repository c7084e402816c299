#include <tessera/nn/layers/multihead_attention.h>
#include <tessera/nn/layers/transformer_decoder_layer.h>
#include <tessera/nn/layers/transformer_encoder_layer.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/transformer_options.h"

namespace tessera::oracle {
namespace {

nn::MultiheadAttentionOptions attention_options(const Attributes& a) {
  nn::MultiheadAttentionOptions options{.bias = a.flag("bias", true),
                                        .add_bias_kv = a.flag("add_bias_kv", false),
                                        .add_zero_attn = a.flag("add_zero_attn", false),
                                        .batch_first = a.flag("batch_first", false)};
  if (a.has("kdim")) {
    options.kdim = a.integer("kdim");
    options.vdim = a.integer("vdim");
  }
  return options;
}

BuiltLayer attention_layer(const Attributes& a) {
  const auto module = nn::make<nn::MultiheadAttention>(
      a.integer("embed_dim"), a.integer("num_heads"), attention_options(a));
  const bool weighted = a.flag("need_weights", true);
  const bool averaged = a.flag("average_attn_weights", true);
  return {module, [=](const NamedTensors& in) -> std::vector<Tensor> {
            const Tensor query = in["query"];
            const Tensor key = in["key"].defined() ? in["key"] : query;
            const Tensor value = in["value"].defined() ? in["value"] : key;
            const auto [y, weights] =
                module(query, key, value,
                       nn::AttendOptions{.key_padding_mask = in["key_padding_mask"],
                                         .need_weights = weighted,
                                         .attn_mask = in["attn_mask"],
                                         .average_attn_weights = averaged});
            return weighted ? std::vector{y, weights} : std::vector{y};
          }};
}

template <class M>
auto transformer_layer(const Attributes& a) {
  return nn::make<M>(a.integer("d_model"), a.integer("nhead"), transformer_options(a));
}

BuiltLayer encoder_layer(const Attributes& a) {
  const auto module = transformer_layer<nn::TransformerEncoderLayer>(a);
  return {
      module, [=](const NamedTensors& in) -> std::vector<Tensor> {
        return {module(in["src"], nn::AttentionMasks{in["src_mask"], in["src_key_padding_mask"]})};
      }};
}

BuiltLayer decoder_layer(const Attributes& a) {
  const auto module = transformer_layer<nn::TransformerDecoderLayer>(a);
  return {module, [=](const NamedTensors& in) -> std::vector<Tensor> {
            const nn::AttentionMasks masks{in["tgt_mask"], in["tgt_key_padding_mask"]};
            const nn::AttentionMasks memory{in["memory_mask"], in["memory_key_padding_mask"]};
            return {module(in["tgt"], in["memory"], masks, memory)};
          }};
}

const Counterparts<Layer> kAttention{{"MultiheadAttention", {attention_layer}},
                                     {"TransformerEncoderLayer", {encoder_layer}},
                                     {"TransformerDecoderLayer", {decoder_layer}}};

}  // namespace
}  // namespace tessera::oracle
