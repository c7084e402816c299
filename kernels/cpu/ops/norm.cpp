#include <tessera/kernels/cpu/ops/norm.h>

#include <tessera/kernels/cpu/norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// The f32 vector of input i, or null when the op has none.
const float* vector_of(const Kernel& k, int i) {
  return k.has_input(i) ? k.input(i).data<float>() : nullptr;
}
bool are_f32(const Kernel& k, int first) {
  for (int i = first; i < k.input_count(); ++i) {
    if (k.has_input(i) && !is_f32(k.input(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool run_norm(Kernel& k, const NormAttrs& attrs, bool centered) {
  const TensorImpl& x = k.input(0);
  if (!is_fast(x) || !has_fast_outputs(k) || !are_f32(k, 1) || x.shape.back() == 0) {
    return false;
  }
  NormForward n;
  n.rows = rows_of(x), n.columns = x.shape.back();
  n.dtype = x.dtype, n.y_dtype = k.output(0).dtype;
  n.epsilon = static_cast<float>(attrs.epsilon), n.centered = centered;
  n.x = bytes_of(x), n.y = bytes_of(k.output(0));
  n.scale = vector_of(k, 1), n.shift = vector_of(k, 2);
  n.inverse = k.output(1).data<float>();
  n.mean = centered ? k.output(2).data<float>() : nullptr;
  norm_forward(n);
  return true;
}

bool run_norm_backward(Kernel& k, const NormBackwardAttrs& attrs, bool centered) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  const bool wrong_dtypes = k.output(0).dtype != x.dtype ||
                            ((attrs.weight || attrs.bias) && attrs.parameters != DType::f32);
  if (!is_fast(gradient) || !is_fast(x) || !has_fast_outputs(k) || !are_f32(k, 2) || wrong_dtypes ||
      x.shape.back() == 0 || !cuts_rows(k, x)) {
    return false;
  }
  NormBackward n;
  n.rows = rows_of(x), n.columns = x.shape.back();
  n.dtype = x.dtype, n.dy_dtype = gradient.dtype, n.centered = centered;
  n.x = bytes_of(x), n.dy = bytes_of(gradient), n.dx = bytes_of(k.output(0));
  n.inverse = vector_of(k, 2), n.scale = vector_of(k, 3);
  n.mean = centered ? vector_of(k, 4) : nullptr;
  n.dscale = attrs.weight ? k.output(1).data<float>() : nullptr;
  n.dshift = attrs.bias ? k.output(1 + attrs.weight).data<float>() : nullptr;
  n.cuts = k.cuts(), n.stacked = k.stacked();
  norm_backward(n);
  return true;
}

}  // namespace tessera::cpu
