#include <tessera/kernels/cpu/attention.h>

#include <cmath>
#include <cstdint>

#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// True for what forward keeps for backward there.
bool are_score_sums(const TensorImpl& x, DType dtype) {
  return dtype == DType::f64 ? is_f64(x) : is_f32(x);
}

/// True when the kernels can do it: one dtype for factors and results.
bool can_attend(const AttentionAttrs& attrs, DType dtype) {
  return is_fast_or_f64(dtype) && attrs.dtype == dtype;
}

/// Sizes, scale and diagonal; the caller adds memory.
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

/// (batch, heads, length, size) with any strides.
Heads heads_of(const TensorImpl& x) {
  return {bytes_of(x), x.strides[0], x.strides[1], x.strides[2]};
}

bool are_heads(const Kernel& k, int first, int last, DType dtype) {
  for (int i = first; i <= last; ++i) {
    const TensorImpl& x = k.input(i);
    if (x.dtype != dtype || (x.strides[3] != 1 && x.shape[3] > 1)) {
      return false;
    }
  }
  return true;
}

/// Sets the mask from input i, if there is one; false when the kernels cannot read it.
bool set_mask(const Kernel& k, int i, Attention& a) {
  if (!k.has_input(i)) {
    return true;
  }
  const TensorImpl& mask = k.input(i);
  const Strides strides = broadcast_strides(mask, {a.batch, a.heads, a.queries, a.keys});
  const DType sums = a.dtype == DType::f64 ? DType::f64 : DType::f32;
  const bool known = mask.dtype == DType::boolean || mask.dtype == sums;
  a.mask = {mask.dtype == DType::boolean ? MaskKind::boolean : MaskKind::additive, bytes_of(mask),
            strides[0], strides[1], strides[2]};
  return known && (strides[3] == 1 || a.keys == 1);
}

/// Shapes and inputs from q at input `first`, then k and v.
Attention attention_at(const Kernel& k, int first, const AttentionAttrs& attrs) {
  const Shape& q = k.input(first).shape;
  const Shape& key = k.input(first + 1).shape;
  Attention a = attention_of(attrs, k.input(first).dtype, q[0], q[1], key[1], q[2], key[2], q[3]);
  a.q = heads_of(k.input(first));
  a.k = heads_of(k.input(first + 1));
  a.v = heads_of(k.input(first + 2));
  return a;
}

bool forward_kernel(Kernel& k, const AttentionAttrs& attrs) {
  const DType dtype = k.input(0).dtype;
  if (!can_attend(attrs, dtype) || !are_heads(k, 0, 2, dtype) || !are_outputs_of(k, dtype)) {
    return false;
  }
  Attention a = attention_at(k, 0, attrs);
  if (!set_mask(k, 3, a)) {
    return false;
  }
  a.out = heads_of(k.output(0));
  a.sums = bytes_of(k.output(1));
  attention_forward(a);
  return true;
}

bool backward_kernel(Kernel& k, const AttentionAttrs& attrs) {
  const DType dtype = k.input(1).dtype;
  if (!can_attend(attrs, dtype) || !are_heads(k, 0, 4, dtype) || !are_outputs_of(k, dtype) ||
      !are_score_sums(k.input(5), dtype)) {
    return false;
  }
  AttentionGradient g;
  g.forward = attention_at(k, 1, attrs);
  if (!set_mask(k, 6, g.forward)) {
    return false;
  }
  g.forward.out = heads_of(k.input(4));
  g.forward.sums = bytes_of(k.input(5));
  g.dout = heads_of(k.input(0));
  g.dq = heads_of(k.output(0));
  g.dk = heads_of(k.output(1));
  g.dv = heads_of(k.output(2));
  attention_backward(g);
  return true;
}

const RegisterKernel<tessera::Attention, forward_kernel> register_attention{DeviceType::cpu};
const RegisterKernel<AttentionBackward, backward_kernel> register_attention_backward{
    DeviceType::cpu};

struct Packed {
  Packed(const TensorImpl& qkv, const PackedAttentionAttrs& attrs)
      : time(qkv.shape[1]),
        width(qkv.shape[2]),
        heads(attrs.heads),
        key_heads(attrs.kv_heads),
        size(width / (heads + 2 * key_heads)),
        dtype(qkv.dtype) {}

  /// Heads from number `first` on, of memory packed like the input.
  [[nodiscard]] Heads packed(const TensorImpl& x, std::int64_t first) const {
    const std::int64_t bytes = first * size * static_cast<std::int64_t>(size_of(dtype));
    return {bytes_of(x) + bytes, time * width, size, width};
  }
  [[nodiscard]] Heads result(const TensorImpl& x) const {
    return {bytes_of(x), time * heads * size, size, heads * size};
  }
  [[nodiscard]] Attention attention(const TensorImpl& qkv, const AttentionAttrs& attrs) const {
    Attention a = attention_of(attrs, dtype, qkv.shape[0], heads, key_heads, time, time, size);
    a.q = packed(qkv, 0);
    a.k = packed(qkv, heads);
    a.v = packed(qkv, heads + key_heads);
    return a;
  }

  std::int64_t time, width, heads, key_heads, size;
  DType dtype;
};

bool forward_kernel(Kernel& k, const PackedAttentionAttrs& attrs) {
  const TensorImpl& qkv = k.input();
  if (!can_attend(attrs.attention, qkv.dtype) || !qkv.contiguous() ||
      !are_outputs_of(k, qkv.dtype)) {
    return false;
  }
  const Packed layout(qkv, attrs);
  if (layout.size == 0) {
    return false;
  }
  Attention a = layout.attention(qkv, attrs.attention);
  a.out = layout.result(k.output(0));
  a.sums = bytes_of(k.output(1));
  attention_forward(a);
  return true;
}

bool backward_kernel(Kernel& k, const PackedAttentionAttrs& attrs) {
  const TensorImpl& qkv = k.input(1);
  if (!can_attend(attrs.attention, qkv.dtype) || !qkv.contiguous() || !k.input(0).contiguous() ||
      !k.input(2).contiguous() || !are_score_sums(k.input(3), qkv.dtype) ||
      !are_outputs_of(k, qkv.dtype) || k.input(0).dtype != qkv.dtype ||
      k.input(2).dtype != qkv.dtype) {
    return false;
  }
  const Packed layout(qkv, attrs);
  if (layout.size == 0) {
    return false;
  }
  AttentionGradient g;
  g.forward = layout.attention(qkv, attrs.attention);
  g.forward.out = layout.result(k.input(2));
  g.forward.sums = bytes_of(k.input(3));
  g.dout = layout.result(k.input(0));
  g.dq = layout.packed(k.output(), 0);
  g.dk = layout.packed(k.output(), layout.heads);
  g.dv = layout.packed(k.output(), layout.heads + layout.key_heads);
  attention_backward(g);
  return true;
}

const RegisterKernel<PackedAttention, forward_kernel> register_packed_attention{DeviceType::cpu};
const RegisterKernel<PackedAttentionBackward, backward_kernel> register_packed_attention_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
