#include <tessera/kernels/cpu/norm.h>

#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// x, y and their gradients as kernels in Numbers take them.
template <class Number>
bool is_value(const TensorImpl& x) {
  return dtype_of<Number> == DType::f64 ? is_f64(x) : is_fast(x);
}
template <class Number>
bool are_values_out(const Kernel& k) {
  return dtype_of<Number> == DType::f64 ? has_f64_outputs(k) : has_fast_outputs(k);
}

/// The vector of input i, or null when the op has none.
template <class Number>
const Number* vector_of(const Kernel& k, int i) {
  return k.has_input(i) ? k.input(i).data<Number>() : nullptr;
}
template <class Number>
bool are_vectors(const Kernel& k, int first) {
  for (int i = first; i < k.input_count(); ++i) {
    if (k.has_input(i) && !is_dense<Number>(k.input(i))) {
      return false;
    }
  }
  return true;
}

template <class Number>
bool run_forward(Kernel& k, const NormAttrs& attrs, bool centered) {
  const TensorImpl& x = k.input(0);
  if (!is_value<Number>(x) || !are_values_out<Number>(k) || !are_vectors<Number>(k, 1) ||
      x.shape.back() == 0) {
    return false;
  }
  NormForwardOf<Number> n;
  n.rows = rows_of(x), n.columns = x.shape.back();
  n.dtype = x.dtype, n.y_dtype = k.output(0).dtype;
  n.epsilon = static_cast<Number>(attrs.epsilon), n.centered = centered;
  n.x = bytes_of(x), n.y = bytes_of(k.output(0));
  n.scale = vector_of<Number>(k, 1), n.shift = vector_of<Number>(k, 2);
  n.inverse = k.output(1).data<Number>();
  n.mean = centered ? k.output(2).data<Number>() : nullptr;
  norm_forward(n);
  return true;
}

template <class Number>
bool run_backward(Kernel& k, const NormBackwardAttrs& attrs, bool centered) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  const bool wrong_dtypes = k.output(0).dtype != x.dtype ||
                            ((attrs.weight || attrs.bias) && attrs.parameters != dtype_of<Number>);
  if (!is_value<Number>(gradient) || !is_value<Number>(x) || !are_values_out<Number>(k) ||
      !are_vectors<Number>(k, 2) || wrong_dtypes || x.shape.back() == 0 || !cuts_rows(k, x)) {
    return false;
  }
  NormBackwardOf<Number> n;
  n.rows = rows_of(x), n.columns = x.shape.back();
  n.dtype = x.dtype, n.dy_dtype = gradient.dtype, n.centered = centered;
  n.x = bytes_of(x), n.dy = bytes_of(gradient), n.dx = bytes_of(k.output(0));
  n.inverse = vector_of<Number>(k, 2), n.scale = vector_of<Number>(k, 3);
  n.mean = centered ? vector_of<Number>(k, 4) : nullptr;
  n.dscale = attrs.weight ? k.output(1).data<Number>() : nullptr;
  n.dshift = attrs.bias ? k.output(1 + attrs.weight).data<Number>() : nullptr;
  n.cuts = k.microbatch_count(), n.stacked = k.per_microbatch();
  norm_backward(n);
  return true;
}

template <class Op, bool centered>
bool norm_kernel(Kernel& k, const typename Op::Attrs& attrs) {
  return run_forward<float>(k, attrs, centered) || run_forward<double>(k, attrs, centered);
}
template <class Op, bool centered>
bool norm_backward_kernel(Kernel& k, const typename Op::Attrs& attrs) {
  return run_backward<float>(k, attrs, centered) || run_backward<double>(k, attrs, centered);
}

const RegisterKernel<LayerNorm, norm_kernel<LayerNorm, true>> register_layer_norm{DeviceType::cpu};
const RegisterKernel<RmsNorm, norm_kernel<RmsNorm, false>> register_rms_norm{DeviceType::cpu};
const RegisterKernel<LayerNormBackward, norm_backward_kernel<LayerNormBackward, true>>
    register_layer_norm_backward{DeviceType::cpu};
const RegisterKernel<RmsNormBackward, norm_backward_kernel<RmsNormBackward, false>>
    register_rms_norm_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
