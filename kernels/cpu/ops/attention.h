// What the bindings of attention on separate and on packed heads share.
#pragma once

#include <cstdint>

#include <tessera/core/ops/support/attention.h>
#include <tessera/kernels/cpu/attention.h>

namespace tessera::cpu {

/// True when the kernels can do it: one dtype for factors and results.
[[nodiscard]] bool can_attend(const AttentionAttrs&, DType dtype);

/// What forward keeps for backward, in its tensor.
[[nodiscard]] inline ScoreSum<float>* score_sums(const TensorImpl& x) {
  return reinterpret_cast<ScoreSum<float>*>(x.data<float>());
}

/// Sizes, scale and diagonal; the caller adds memory.
[[nodiscard]] Attention attention_of(const AttentionAttrs&, DType dtype, std::int64_t batch,
                                     std::int64_t heads, std::int64_t key_heads,
                                     std::int64_t queries, std::int64_t keys, std::int64_t size);

}  // namespace tessera::cpu
