#include <tessera/core/ops/packed_attention.h>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ops/attention.h>

namespace tessera::cpu {
namespace {

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
