#include <tessera/nn/layers/multihead_attention.h>

#include <cmath>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/support/attention_options.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/xavier.h>
#include <tessera/nn/layers/attention_mask.h>
#include <tessera/nn/layers/causal_self_attention.h>

namespace tessera::nn {
namespace {

std::int64_t checked_width(std::int64_t embed_dim, std::int64_t num_heads) {
  check_heads(embed_dim, num_heads);
  return embed_dim;
}

/// (N, time, heads * size) as (N, heads, time, size).
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return transpose(unflatten(x, 2, {heads, -1}), 1, 2);
}

/// x with more of dim `dim`: zeros in front and behind.
Tensor padded(const Tensor& x, int dim, std::int64_t before, std::int64_t after) {
  Pad::Attrs padding{
      .before = Dims::filled(x.ndim(), 0), .after = Dims::filled(x.ndim(), 0), .between = {}};
  padding.before[dim] = before;
  padding.after[dim] = after;
  return pad(x, padding);
}

/// The output and the weights of heads, written out: weights can be looked at, and everything has a
/// gradient.
std::pair<Tensor, Tensor> attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                                 const Tensor& mask, double dropout_rate) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor products = matmul(q, k, false, true);
  const Tensor scores = cast(products, statistics_dtype(q.dtype())) * scale;
  const Tensor weights = softmax(mask.defined() ? scores + mask : scores, -1);
  const Tensor kept = dropout_rate > 0 ? dropout(weights, dropout_rate) : weights;
  return {matmul(cast(kept, v.dtype()), v), kept};
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

void MultiheadAttention::check_inputs(const Tensor& query, const Tensor& key,
                                      const Tensor& value) const {
  const int ndim = query.ndim();
  check((ndim == 2 || ndim == 3) && key.ndim() == ndim && value.ndim() == ndim,
        "MultiheadAttention: query, key and value need 3 dims each, or 2 without a batch; got ",
        query.shape(), ", ", key.shape(), " and ", value.shape());
  check(query.size(-1) == embed_dim_ && key.size(-1) == kdim_ && value.size(-1) == vdim_,
        "MultiheadAttention: wrong widths; got ", query.shape(), ", ", key.shape(), " and ",
        value.shape(), ", expected ", embed_dim_, ", ", kdim_, " and ", vdim_);
  const int batch = batch_first_ ? 0 : 1;
  check(key.size(0) == value.size(0) && key.size(1) == value.size(1) &&
            (ndim == 2 || query.size(batch) == key.size(batch)),
        "MultiheadAttention: shapes do not fit; got ", query.shape(), ", ", key.shape(), " and ",
        value.shape());
}

// Batch first: a microbatch is a run of rows, and dropout finds samples in dim 0.
Tensor MultiheadAttention::batched(const Tensor& x) const {
  if (x.ndim() == 2) {
    return unsqueeze(x, 0);
  }
  return batch_first_ ? x : contiguous(transpose(x, 0, 1));
}

Tensor MultiheadAttention::unbatched(const Tensor& y, bool has_batch) const {
  if (!has_batch) {
    return squeeze(y, 0);
  }
  return batch_first_ ? y : contiguous(transpose(y, 0, 1));
}

std::pair<Tensor, Tensor> MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                                      const Tensor& value,
                                                      const AttendOptions& options) const {
  check_inputs(query, key, value);
  const bool has_batch = query.ndim() == 3;
  AttendOptions asked = options;
  if (!has_batch && asked.key_padding_mask.defined()) {
    asked.key_padding_mask = unsqueeze(asked.key_padding_mask, 0);
  }
  const Tensor q = batched(query);
  const Tensor k = key.is(query) ? q : batched(key);
  const auto [y, weights] = attend({q, k, value.is(key) ? k : batched(value)}, asked);
  const Tensor output = unbatched(out_proj(y), has_batch);
  if (!options.need_weights) {
    return {output, Tensor()};
  }
  const Tensor shown = options.average_attn_weights ? mean(weights, {1}) : weights;
  return {output, has_batch ? shown : squeeze(shown, 0)};
}

/// Whether one product computes queries, keys and values.
bool MultiheadAttention::packs(const Streams& x) const {
  return in_proj_weight.defined() && x[0].is(x[1]) && x[1].is(x[2]);
}

MultiheadAttention::Streams MultiheadAttention::project(const Streams& x) const {
  const auto part = [&](const Tensor& whole, int dim, int i) {
    return slice(whole, dim, i * embed_dim_, (i + 1) * embed_dim_);
  };
  if (packs(x)) {
    const Tensor all = linear(x[0], in_proj_weight, in_proj_bias);
    return {part(all, 2, 0), part(all, 2, 1), part(all, 2, 2)};
  }
  const Streams own{q_proj_weight, k_proj_weight, v_proj_weight};
  Streams result;
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Tensor weight = in_proj_weight.defined() ? part(in_proj_weight, 0, i) : own[at];
    result[at] =
        linear(x[at], weight, in_proj_bias.defined() ? part(in_proj_bias, 0, i) : Tensor());
  }
  return result;
}

/// Zeros behind the last key, and `bias` added where one stands for it: sums with a parameter may
/// hold several microbatches, tensors joined to it may not.
void MultiheadAttention::add_keys(Tensor& keys, const Parameter& bias) const {
  const std::int64_t count = keys.size(1);
  if (bias.defined()) {
    keys = padded(keys, 1, 0, 1) + padded(cast(bias, keys.dtype()), 1, count, 0);
  }
  if (add_zero_attn_) {
    keys = padded(keys, 1, 0, 1);
  }
}

std::pair<Tensor, Tensor> MultiheadAttention::attend(const Streams& x,
                                                     const AttendOptions& options) const {
  const Shape scores{x[0].size(0), num_heads_, x[0].size(1), x[1].size(1)};
  const DType dtype = statistics_dtype(x[0].dtype());
  Tensor mask = joined_mask(options.attn_mask, options.key_padding_mask, scores, dtype);
  const bool more_keys = bias_k.defined() || add_zero_attn_;
  const bool plain = !mask.defined() && !more_keys && !options.need_weights;
  if (plain && packs(x)) {
    const AttentionOptions asked{.causal = options.is_causal, .dropout = training() ? dropout_ : 0};
    const Tensor all = linear(x[0], in_proj_weight, in_proj_bias);
    return {packed_attention(all, num_heads_, num_heads_, asked), Tensor()};
  }
  if (options.is_causal && !plain) {
    const Tensor later = additive_mask(causal_mask(scores[2], scores[3], x[0].device()), dtype);
    mask = mask.defined() ? mask + later : later;
  }
  return attend_heads(project(x), options.is_causal && plain, options.need_weights, mask);
}

std::pair<Tensor, Tensor> MultiheadAttention::attend_heads(Streams x, bool causal,
                                                           bool need_weights, Tensor mask) const {
  const std::int64_t keys = x[1].size(1);
  add_keys(x[1], bias_k);
  add_keys(x[2], bias_v);
  if (mask.defined() && x[1].size(1) > keys) {
    mask = padded(mask, mask.ndim() - 1, 0, x[1].size(1) - keys);
  }
  for (Tensor& stream : x) {
    stream = split_heads(stream, num_heads_);
  }
  const double rate = training() ? dropout_ : 0;
  const bool written_out = need_weights || (mask.defined() && mask.requires_grad());
  const auto [y, weights] =
      written_out
          ? attention_with_weights(x[0], x[1], x[2], mask, rate)
          : std::pair(attention(x[0], x[1], x[2], {.causal = causal, .dropout = rate}, mask),
                      Tensor());
  return {flatten(transpose(y, 1, 2), 2), weights};
}

}  // namespace tessera::nn
