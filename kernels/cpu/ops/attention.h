// What the bindings of attention on separate and on packed heads share.
#pragma once

#include <cstdint>

#include <tessera/core/ops/support/attention.h>
#include <tessera/kernels/cpu/attention.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {

/// True when the kernels can do it: one dtype for factors and results.
[[nodiscard]] bool can_attend(const AttentionAttrs&, DType dtype);

/// True for dense results of calls on tensors of `dtype`.
[[nodiscard]] inline bool are_outputs_of(const Kernel& k, DType dtype) {
  return dtype == DType::f64 ? has_f64_outputs(k) : has_fast_outputs(k);
}
/// True for what forward keeps for backward there.
[[nodiscard]] inline bool are_score_sums(const TensorImpl& x, DType dtype) {
  return dtype == DType::f64 ? is_f64(x) : is_f32(x);
}

/// Sizes, scale and diagonal; the caller adds memory.
[[nodiscard]] Attention attention_of(const AttentionAttrs&, DType dtype, std::int64_t batch,
                                     std::int64_t heads, std::int64_t key_heads,
                                     std::int64_t queries, std::int64_t keys, std::int64_t size);

}  // namespace tessera::cpu
