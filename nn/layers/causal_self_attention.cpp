#include <tessera/nn/layers/causal_self_attention.h>

#include <algorithm>

#include <tessera/core/ops/packed_attention.h>

namespace tessera::nn {
namespace {

std::int64_t kv_heads_of(std::int64_t heads, const AttentionLayerOptions& options) {
  return options.kv_heads == 0 ? heads : options.kv_heads;
}

/// Width of queries, keys and values together.
std::int64_t packed_width(std::int64_t width, std::int64_t heads, std::int64_t kv_heads) {
  check_heads(width, heads);
  check(kv_heads >= 1 && heads % kv_heads == 0,
        "CausalSelfAttention: kv_heads does not divide heads; got ", kv_heads, " and ", heads);
  return width / heads * (heads + 2 * kv_heads);
}

}  // namespace

void check_heads(std::int64_t width, std::int64_t heads) {
  check(width >= 1 && heads >= 1, "attention: width and heads must be positive; got width ", width,
        " and heads ", heads);
  if (width % heads == 0) {
    return;
  }
  const std::int64_t below = width / heads * heads;
  std::int64_t fewer = std::min(heads, width);
  while (width % fewer != 0) {
    --fewer;
  }
  std::int64_t more = heads;
  while (more < width && width % more != 0) {
    ++more;
  }
  fail<InvalidArgument>("attention: width is not divisible by heads; got width ", width,
                        " and heads ", heads, ", expected width ",
                        below == 0 ? "" : std::to_string(below) + " or ", below + heads,
                        ", or heads ", fewer, more <= width ? " or " + std::to_string(more) : "");
}

CausalSelfAttention::CausalSelfAttention(std::int64_t width, std::int64_t heads,
                                         const AttentionLayerOptions& options)
    : c_attn(this, "c_attn", width, packed_width(width, heads, kv_heads_of(heads, options)),
             LinearOptions{.bias = options.bias,
                           .weight_init = options.weight_init,
                           .bias_init = options.bias_init}),
      c_proj(this, "c_proj", width, width,
             LinearOptions{.bias = options.bias,
                           .weight_init = options.projection_init,
                           .bias_init = options.bias_init}),
      resid_dropout(this, "resid_dropout", options.dropout),
      width_(width),
      heads_(heads),
      kv_heads_(kv_heads_of(heads, options)),
      bias_(options.bias),
      dropout_(options.dropout) {}

Tensor CausalSelfAttention::forward(const Tensor& x) const {
  const Tensor y = packed_attention(c_attn(x), heads_, kv_heads_,
                                    {.causal = true, .dropout = training() ? dropout_ : 0});
  return resid_dropout(c_proj(y));
}

std::string CausalSelfAttention::extra_repr() const {
  return tessera::detail::concat("heads=", heads_, ", kv_heads=", kv_heads_);
}

}  // namespace tessera::nn
