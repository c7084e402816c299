#include <tessera/nn/layers/multi_head_attention_forward.h>

#include <array>
#include <cmath>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/layers/attention_mask.h>
#include <tessera/nn/layers/causal_self_attention.h>

namespace tessera::nn {
namespace {

constexpr const char* kName = "multi_head_attention_forward";

/// Queries, keys and values, (N, time, width) each.
using Streams = std::array<Tensor, 3>;

/// (N, time, heads * size) as (N, heads, time, size).
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return transpose(unflatten(x, 2, {heads, -1}), 1, 2);
}

/// x with more of dim `dim`: zeros in front and behind.
Tensor padded(const Tensor& x, int dim, std::int64_t before, std::int64_t after) {
  Pad::Attrs padding{.before = Dims::filled(unstacked_ndim(x), 0),
                     .after = Dims::filled(unstacked_ndim(x), 0),
                     .between = {}};
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

class AttentionForward {
 public:
  /// Throws InvalidArgument for weights that do not fit each other.
  AttentionForward(const AttentionWeights& weights, const AttentionCall& call)
      : w_(weights), call_(call), widths_(widths_of(weights)) {
    check_heads(widths_.embed, call.num_heads);
  }

  void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value) const;
  [[nodiscard]] Tensor batched(const Tensor& x) const;
  [[nodiscard]] Tensor unbatched(const Tensor& y, bool has_batch) const;
  /// (N, L, E) before the last map, and weights (N, num_heads, L, S) or nothing.
  [[nodiscard]] std::pair<Tensor, Tensor> attend(const Streams& x,
                                                 const AttendOptions& options) const;

 private:
  [[nodiscard]] bool packs(const Streams& x) const;
  [[nodiscard]] Streams project(const Streams& x) const;
  void add_keys(Tensor& keys, const Tensor& bias) const;
  [[nodiscard]] std::pair<Tensor, Tensor> attend_heads(Streams x, bool causal, bool need_weights,
                                                       Tensor mask) const;

  const AttentionWeights& w_;
  const AttentionCall& call_;
  AttentionWidths widths_;
};

void AttentionForward::check_inputs(const Tensor& query, const Tensor& key,
                                    const Tensor& value) const {
  const Shape q = unstacked_shape(query), k = unstacked_shape(key), v = unstacked_shape(value);
  const int ndim = q.size();
  check((ndim == 2 || ndim == 3) && k.size() == ndim && v.size() == ndim, kName,
        ": query, key and value need 3 dims each, or 2 without a batch; got ", q, ", ", k, " and ",
        v);
  check(q.back() == widths_.embed && k.back() == widths_.key && v.back() == widths_.value, kName,
        ": wrong widths; got ", q, ", ", k, " and ", v, ", expected ", widths_.embed, ", ",
        widths_.key, " and ", widths_.value);
  const int batch = call_.batch_first ? 0 : 1;
  const bool batches_fit = ndim == 2 || (k[1] == v[1] && q[batch] == k[batch]);
  check(k[0] == v[0] && batches_fit, kName, ": shapes do not fit; got ", q, ", ", k, " and ", v);
}

// Batch first: a microbatch is a run of rows, and dropout finds samples in dim 0.
Tensor AttentionForward::batched(const Tensor& x) const {
  if (unstacked_ndim(x) == 2) {
    return unsqueeze(x, 0);
  }
  return call_.batch_first ? x : contiguous(transpose(x, 0, 1));
}

Tensor AttentionForward::unbatched(const Tensor& y, bool has_batch) const {
  if (!has_batch) {
    return squeeze(y, 0);
  }
  return call_.batch_first ? y : contiguous(transpose(y, 0, 1));
}

/// Whether one product computes queries, keys and values.
bool AttentionForward::packs(const Streams& x) const {
  return w_.in_proj_weight.defined() && x[0].is(x[1]) && x[1].is(x[2]);
}

Streams AttentionForward::project(const Streams& x) const {
  const auto part = [&](const Tensor& whole, int dim, int i) {
    return slice(whole, dim, i * widths_.embed, (i + 1) * widths_.embed);
  };
  if (packs(x)) {
    const Tensor all = linear(x[0], w_.in_proj_weight, w_.in_proj_bias);
    return {part(all, 2, 0), part(all, 2, 1), part(all, 2, 2)};
  }
  const Streams own{w_.q_proj_weight, w_.k_proj_weight, w_.v_proj_weight};
  Streams result;
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Tensor weight = w_.in_proj_weight.defined() ? part(w_.in_proj_weight, 0, i) : own[at];
    result[at] =
        linear(x[at], weight, w_.in_proj_bias.defined() ? part(w_.in_proj_bias, 0, i) : Tensor());
  }
  return result;
}

/// Zeros behind the last key, and `bias` added where one stands for it: sums with a parameter may
/// hold several microbatches, tensors joined to it may not.
void AttentionForward::add_keys(Tensor& keys, const Tensor& bias) const {
  const std::int64_t count = unstacked_shape(keys)[1];
  if (bias.defined()) {
    keys = padded(keys, 1, 0, 1) + padded(cast(bias, keys.dtype()), 1, count, 0);
  }
  if (call_.add_zero_attn) {
    keys = padded(keys, 1, 0, 1);
  }
}

std::pair<Tensor, Tensor> AttentionForward::attend(const Streams& x,
                                                   const AttendOptions& options) const {
  const Shape queries = unstacked_shape(x[0]);
  const Shape scores{queries[0], call_.num_heads, queries[1], unstacked_shape(x[1])[1]};
  const DType dtype = statistics_dtype(x[0].dtype());
  Tensor mask = joined_mask(options.attn_mask, options.key_padding_mask, scores, dtype);
  const bool more_keys = w_.bias_k.defined() || call_.add_zero_attn;
  const bool plain = !mask.defined() && !more_keys && !options.need_weights;
  if (plain && packs(x)) {
    const AttentionOptions asked{.causal = options.is_causal, .dropout = call_.dropout};
    const Tensor all = linear(x[0], w_.in_proj_weight, w_.in_proj_bias);
    return {packed_attention(all, call_.num_heads, call_.num_heads, asked), Tensor()};
  }
  if (options.is_causal && !plain) {
    const Tensor later = additive_mask(causal_mask(scores[2], scores[3], x[0].device()), dtype);
    mask = mask.defined() ? mask + later : later;
  }
  return attend_heads(project(x), options.is_causal && plain, options.need_weights, mask);
}

std::pair<Tensor, Tensor> AttentionForward::attend_heads(Streams x, bool causal, bool need_weights,
                                                         Tensor mask) const {
  const std::int64_t keys = unstacked_shape(x[1])[1];
  add_keys(x[1], w_.bias_k);
  add_keys(x[2], w_.bias_v);
  const std::int64_t more = unstacked_shape(x[1])[1] - keys;
  if (mask.defined() && more > 0) {
    mask = padded(mask, unstacked_ndim(mask) - 1, 0, more);
  }
  for (Tensor& stream : x) {
    stream = split_heads(stream, call_.num_heads);
  }
  const bool written_out = need_weights || (mask.defined() && mask.requires_grad());
  const auto [y, weights] =
      written_out ? attention_with_weights(x[0], x[1], x[2], mask, call_.dropout)
                  : std::pair(attention(x[0], x[1], x[2],
                                        {.causal = causal, .dropout = call_.dropout}, mask),
                              Tensor());
  return {flatten(transpose(y, 1, 2), 2), weights};
}

}  // namespace

std::pair<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionWeights& weights,
    const AttentionCall& call, const AttendOptions& options,
    const std::function<Tensor(const Tensor&)>& out_proj) {
  const AttentionForward attention(weights, call);
  AttendOptions asked = options;
  const auto [queries, keys, values, mask, padding] =
      stacked_alike(query, key, value, options.attn_mask, options.key_padding_mask);
  attention.check_inputs(queries, keys, values);
  const bool has_batch = unstacked_ndim(queries) == 3;
  asked.attn_mask = mask;
  asked.key_padding_mask = padding.defined() && !has_batch ? unsqueeze(padding, 0) : padding;
  const Tensor q = attention.batched(queries);
  const Tensor k = keys.is(queries) ? q : attention.batched(keys);
  const Tensor v = values.is(keys) ? k : attention.batched(values);
  const auto [y, shares] = attention.attend({q, k, v}, asked);
  const Tensor output = attention.unbatched(out_proj(y), has_batch);
  if (!options.need_weights) {
    return {output, Tensor()};
  }
  const Tensor shown = options.average_attn_weights ? mean(shares, {1}) : shares;
  return {output, has_batch ? shown : squeeze(shown, 0)};
}

std::pair<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                       const Tensor& value,
                                                       const AttentionWeights& weights,
                                                       const AttentionCall& call,
                                                       const AttendOptions& options) {
  check(weights.out_proj_weight.defined(), kName, ": out_proj_weight is undefined");
  const auto out_proj = [&](const Tensor& y) {
    return linear(y, weights.out_proj_weight, weights.out_proj_bias);
  };
  return multi_head_attention_forward(query, key, value, weights, call, options, out_proj);
}

}  // namespace tessera::nn
