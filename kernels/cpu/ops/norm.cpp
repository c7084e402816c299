#include <tessera/kernels/cpu/norm.h>

#include <optional>

#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/kernels/cpu/batch_norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// x, y and their gradients as kernels in Numbers take them.
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
  if (!is_stored_of(x, dtype_of<Number>) || !are_outputs_of(k, dtype_of<Number>) ||
      !are_vectors<Number>(k, 1) || x.shape.back() == 0) {
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
  if (!is_stored_of(gradient, dtype_of<Number>) || !is_stored_of(x, dtype_of<Number>) ||
      !are_outputs_of(k, dtype_of<Number>) || !are_vectors<Number>(k, 2) || wrong_dtypes ||
      x.shape.back() == 0 || !cuts_rows(k, x)) {
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
  n.cuts = k.microbatch_count(), n.per_microbatch = k.per_microbatch();
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

/// True when inputs from `first` on are dense factors of products in `compute`, or absent.
bool are_factors(const Kernel& k, int first, DType compute) {
  for (int i = first; i < k.input_count(); ++i) {
    if (k.has_input(i) && !is_factor(k.input(i), compute)) {
      return false;
    }
  }
  return true;
}

template <class Norm>
Norm sizes_of(const TensorImpl& x) {
  Norm n;
  n.batch = x.shape[0], n.channels = x.shape[1];
  n.inner = x.numel() / n.batch / n.channels;
  n.dtype = x.dtype;
  return n;
}

/// Whether x, other inputs from `first` on and outputs are what kernels in Numbers take.
template <class Number>
bool takes(const Kernel& k, const TensorImpl& x, int first) {
  return is_factor(x.dtype, dtype_of<Number>) && are_factors(k, first, dtype_of<Number>) &&
         are_outputs_of(k, dtype_of<Number>) && x.numel() > 0;
}

template <class Number>
const Number* numbers_of(const FloatOperand& operand) {
  return static_cast<const Number*>(operand.values());
}

template <class Number>
bool run_forward(Kernel& k, const tessera::BatchNorm::Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  if (!takes<Number>(k, x, 1)) {
    return false;
  }
  const DenseOperand dense(x);
  const FloatOperand weight(k, 1), bias(k, 2);
  auto n = sizes_of<BatchNormForwardOf<Number>>(x);
  n.y_dtype = k.output(0).dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.y = bytes_of(k.output(0));
  n.weight = numbers_of<Number>(weight), n.bias = numbers_of<Number>(bias);
  n.mean = k.output(1).data<Number>(), n.variance = k.output(2).data<Number>();
  batch_norm_forward(n);
  return true;
}

template <class Number>
bool run_backward(Kernel& k, const tessera::BatchNormBackward::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  if (!is_factor(gradient.dtype, dtype_of<Number>) || !takes<Number>(k, x, 2)) {
    return false;
  }
  const DenseOperand dense(x), dense_gradient(gradient);
  const FloatOperand mean(k, 2), variance(k, 3), weight(k, 4);
  std::optional<FloatResult> dweight, dbias;
  if (attrs.weight) {
    dweight.emplace(k.output(1), k.workspace());
  }
  if (attrs.bias) {
    dbias.emplace(k.output(1 + attrs.weight),
                  k.workspace() + (attrs.weight ? FloatResult::nbytes(k.output(1)) : 0));
  }
  auto n = sizes_of<BatchNormBackwardOf<Number>>(x);
  n.dy_dtype = gradient.dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.dy = dense_gradient.data(), n.dx = bytes_of(k.output(0));
  n.mean = numbers_of<Number>(mean), n.variance = numbers_of<Number>(variance),
  n.weight = numbers_of<Number>(weight);
  n.dweight = dweight ? static_cast<Number*>(dweight->values()) : nullptr;
  n.dbias = dbias ? static_cast<Number*>(dbias->values()) : nullptr;
  batch_norm_backward(n);
  for (const auto* result : {&dweight, &dbias}) {
    if (*result) {
      (*result)->store();
    }
  }
  return true;
}

bool forward_kernel(Kernel& k, const tessera::BatchNorm::Attrs& attrs) {
  return run_forward<float>(k, attrs) || run_forward<double>(k, attrs);
}
bool backward_kernel(Kernel& k, const tessera::BatchNormBackward::Attrs& attrs) {
  return run_backward<float>(k, attrs) || run_backward<double>(k, attrs);
}

const RegisterKernel<tessera::BatchNorm, forward_kernel> register_batch_norm{DeviceType::cpu};
std::size_t bytes_of_backward(const Kernel& k, const tessera::BatchNormBackward::Attrs&) {
  std::size_t nbytes = 0;
  for (int i = 1; i < k.output_count(); ++i) {
    nbytes += FloatResult::nbytes(k.output(i));
  }
  return nbytes;
}

const RegisterKernel<tessera::BatchNormBackward, backward_kernel, bytes_of_backward>
    register_batch_norm_backward{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
