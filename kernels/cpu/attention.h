// Scaled dot product attention in tiles of 64 x 64: memory grows with the length, not its square.
// After Dao et al., FlashAttention (arXiv:2205.14135); only sums of exponentials are kept for the
// gradient.
#pragma once

#include <cstdint>

#include <tessera/core/ops/support/attention.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/kernels/cpu/dropout.h>

namespace tessera::cpu {

/// [batch, heads, length, head_dim] with any strides (in elements) but a contiguous last dim.
struct Heads {
  void* data = nullptr;
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
};

enum class MaskKind : std::uint8_t { none, boolean, additive };

/// [batch, heads, query length, key length], broadcast by strides of 0, last dim contiguous.
struct AttentionMask {
  MaskKind kind = MaskKind::none;
  const void* data = nullptr;  ///< bool (true: may be seen), or f32 or f64 as sums are (added)
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
};

struct Attention {
  std::int64_t batch = 0, heads = 0, key_heads = 0;  ///< heads is a multiple of key_heads
  std::int64_t queries = 0, keys = 0, head_dim = 0;
  DType dtype = DType::f32;  ///< of q, k, v and out: f32, bf16 or f64
  double scale = 1;
  bool causal = false;  ///< query i sees keys up to i + causal_offset
  std::int64_t causal_offset = 0;
  AttentionMask mask;
  DropoutDraw dropout;          ///< of weights; a sample's are numbered [heads, queries, keys]
  std::int64_t first_head = 0;  ///< there
  Heads q, k, v, out;
  /// ScoreSum<float>, or <double> of f64, [batch, heads, queries]; written by forward unless null.
  void* sums = nullptr;
};

/// out = softmax(scale q k^T + mask) v. A query that sees no key gives zeros. Keys behind the
/// diagonal have no part in out, not even where they are nan.
void attention_forward(const Attention&);

/// Gradients from `forward` (out and sums as forward left them) and dout, added up in an
/// order that the lengths fix.
struct AttentionGradient {
  Attention forward;
  Heads dout, dq, dk, dv;
};
void attention_backward(const AttentionGradient&);

}  // namespace tessera::cpu
