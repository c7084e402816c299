#include <cmath>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ops/attention.h>

namespace tessera::cpu {

bool can_attend(const AttentionAttrs& attrs, DType dtype) {
  return is_fast_or_f64(dtype) && attrs.dtype == dtype;
}

Attention attention_of(const AttentionAttrs& attrs, DType dtype, std::int64_t batch,
                       std::int64_t heads, std::int64_t key_heads, std::int64_t queries,
                       std::int64_t keys, std::int64_t size) {
  Attention a;
  a.batch = batch, a.heads = heads, a.key_heads = key_heads;
  a.queries = queries, a.keys = keys, a.head_dim = size;
  a.dtype = dtype, a.causal = attrs.causal;
  a.dropout = DropoutDraw(attrs.dropout, attrs.key, attrs.first_sample);
  a.first_head = attrs.first_head;
  a.scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<double>(size));
  return a;
}

}  // namespace tessera::cpu
