#include <tessera/nn/layers/multihead_attention.h>

#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/xavier.h>
#include <tessera/nn/layers/causal_self_attention.h>

namespace tessera::nn {
namespace {

std::int64_t checked_width(std::int64_t embed_dim, std::int64_t num_heads) {
  check_heads(embed_dim, num_heads);
  return embed_dim;
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionOptions& options)
    : out_proj(this, "out_proj", checked_width(embed_dim, num_heads), embed_dim,
               LinearOptions{.bias = options.bias, .bias_init = init::zeros()}),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      kdim_(options.kdim.value_or(embed_dim)),
      vdim_(options.vdim.value_or(embed_dim)),
      dropout_(options.dropout),
      add_zero_attn_(options.add_zero_attn),
      batch_first_(options.batch_first) {
  check<ValueError>(kdim_ >= 1 && vdim_ >= 1, "MultiheadAttention: widths must be positive; got ",
                    "kdim ", kdim_, " and vdim ", vdim_);
  check<ValueError>(dropout_ >= 0 && dropout_ <= 1, "MultiheadAttention: wrong dropout; got ",
                    dropout_, ", expected one in [0, 1]");
  make_parameters(options);
}

void MultiheadAttention::make_parameters(const MultiheadAttentionOptions& options) {
  const auto make = [&](const char* name, bool wanted, const Shape& shape,
                        const Initializer& initializer) {
    return wanted ? Parameter(this, name, shape, initializer) : register_parameter(name, nullptr);
  };
  const bool packed = kdim_ == embed_dim_ && vdim_ == embed_dim_;
  const Initializer xavier = init::xavier_uniform();
  in_proj_weight = make("in_proj_weight", packed, {3 * embed_dim_, embed_dim_}, xavier);
  q_proj_weight = make("q_proj_weight", !packed, {embed_dim_, embed_dim_}, xavier);
  k_proj_weight = make("k_proj_weight", !packed, {embed_dim_, kdim_}, xavier);
  v_proj_weight = make("v_proj_weight", !packed, {embed_dim_, vdim_}, xavier);
  in_proj_bias = make("in_proj_bias", options.bias, {3 * embed_dim_}, init::zeros());
  bias_k = make("bias_k", options.add_bias_kv, {1, 1, embed_dim_}, init::xavier_normal());
  bias_v = make("bias_v", options.add_bias_kv, {1, 1, embed_dim_}, init::xavier_normal());
}

std::pair<Tensor, Tensor> MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                                      const Tensor& value,
                                                      const AttendOptions& options) const {
  const AttentionWeights weights{.in_proj_weight = in_proj_weight,
                                 .q_proj_weight = q_proj_weight,
                                 .k_proj_weight = k_proj_weight,
                                 .v_proj_weight = v_proj_weight,
                                 .in_proj_bias = in_proj_bias,
                                 .bias_k = bias_k,
                                 .bias_v = bias_v};
  const AttentionCall call{.num_heads = num_heads_,
                           .dropout = training() ? dropout_ : 0,
                           .add_zero_attn = add_zero_attn_,
                           .batch_first = batch_first_};
  // A call of the child, so that its hooks run.
  const auto last = [this](const Tensor& y) { return out_proj(y); };
  return multi_head_attention_forward(query, key, value, weights, call, options, last);
}

}  // namespace tessera::nn
