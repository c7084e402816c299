#include <tessera/nn/layers/attention_mask.h>

#include <limits>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/triu.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {
namespace {

void check_mask(const char* name, const Tensor& mask, const Shape& expected) {
  check(mask.dtype() == DType::boolean || is_floating(mask.dtype()), "attention: the ", name,
        " must be bool or floating; got ", mask.dtype());
  check(unstacked_shape(mask) == expected, "attention: the ", name, " does not fit; got ",
        unstacked_shape(mask), ", expected ", expected);
}

/// `mask` in a shape that broadcasts to (N, heads, L, S).
Tensor of_attention(const Tensor& mask, const Shape& scores) {
  if (unstacked_ndim(mask) != 3) {
    check_mask("attn_mask", mask, {scores[2], scores[3]});
    return mask;
  }
  check_mask("attn_mask", mask, {scores[0] * scores[1], scores[2], scores[3]});
  return unflatten(mask, 0, {scores[0], scores[1]});
}

Tensor of_padding(const Tensor& mask, const Shape& scores) {
  check_mask("key_padding_mask", mask, {scores[0], scores[3]});
  return unsqueeze(unsqueeze(mask, 1), 1);
}

}  // namespace

Tensor causal_mask(std::int64_t queries, std::int64_t keys, Device device) {
  return triu(ones({queries, keys}, {.dtype = DType::boolean, .device = device}), 1);
}

Tensor additive_mask(const Tensor& mask, DType dtype) {
  return mask.dtype() == DType::boolean
             ? where(mask, -std::numeric_limits<double>::infinity(), scalar(0, {.dtype = dtype}))
             : cast(mask, dtype);
}

Tensor joined_mask(const Tensor& attn_mask, const Tensor& key_padding_mask, const Shape& scores,
                   DType dtype) {
  Tensor joined;
  if (attn_mask.defined()) {
    joined = additive_mask(of_attention(attn_mask, scores), dtype);
  }
  if (key_padding_mask.defined()) {
    const Tensor padding = additive_mask(of_padding(key_padding_mask, scores), dtype);
    joined = joined.defined() ? joined + padding : padding;
  }
  return joined;
}

}  // namespace tessera::nn
