#include <tessera/core/ops/attention.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ops/attention.h>

namespace tessera::cpu {
namespace {

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

}  // namespace
}  // namespace tessera::cpu
