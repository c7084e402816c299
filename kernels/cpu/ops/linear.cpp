#include <tessera/core/ops/linear.h>

#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/row_sums.h>

namespace tessera::cpu {
namespace {

/// A weight with any strides.
Matrix weight_matrix(const TensorImpl& weight) {
  return {bytes_of(weight), weight.dtype, weight.strides[0], weight.strides[1]};
}

bool linear_kernel(Kernel& k, const Linear::Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& weight = k.input(1);
  if (!is_factor(x, attrs.dtype) || !is_factor(weight.dtype, attrs.dtype) ||
      !is_factor(k.output(), attrs.dtype) ||
      (k.has_input(2) && !is_factor(k.input(2), attrs.dtype))) {
    return false;
  }
  const FloatOperand bias(k, 2);
  Gemm g;
  g.m = rows_of(x), g.n = weight.shape[0], g.k = weight.shape[1];
  g.a = rows_matrix(x);
  g.b = weight_matrix(weight).transposed();
  g.c = bytes_of(k.output()), g.c_dtype = k.output().dtype, g.c_stride = g.n;
  g.bias = bias.values();
  g.compute = attrs.dtype;
  gemm(g);
  return true;
}

bool grad_input_kernel(Kernel& k, const LinearBackwardInput::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& weight = k.input(1);
  if (!is_factor(gradient, attrs.dtype) || !is_factor(weight.dtype, attrs.dtype) ||
      !is_factor(k.output(), attrs.dtype)) {
    return false;
  }
  Gemm g;
  g.m = rows_of(gradient), g.n = weight.shape[1], g.k = weight.shape[0];
  g.a = rows_matrix(gradient);
  g.b = weight_matrix(weight);
  g.c = bytes_of(k.output()), g.c_dtype = k.output().dtype, g.c_stride = g.n;
  g.compute = attrs.dtype;
  gemm(g);
  return true;
}

bool grad_weight_kernel(Kernel& k, const LinearBackwardWeight::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  if (!is_factor(gradient, attrs.dtype) || !is_factor(x, attrs.dtype) ||
      !is_factor(k.output(), attrs.dtype) || !cuts_rows(k, gradient)) {
    return false;
  }
  const FloatResult sums(k.output(), k.workspace());
  Gemm g;
  g.m = gradient.shape.back(), g.n = x.shape.back(), g.k = rows_of(x);
  g.a = rows_matrix(gradient).transposed();
  g.b = rows_matrix(x);
  g.c = sums.values(), g.c_dtype = sums.dtype(), g.c_stride = g.n;
  g.compute = attrs.dtype;
  g.cuts = k.microbatch_count(), g.per_microbatch = k.per_microbatch(), g.cut_stride = g.m * g.n;
  gemm(g);
  sums.store();
  return true;
}

bool grad_bias_kernel(Kernel& k, const LinearBackwardBias::Attrs&) {
  const TensorImpl& gradient = k.input();
  const bool wide = is_f64(gradient) && is_f64(k.output());
  if ((!wide && (!is_fast(gradient) || !is_fast(k.output()))) || !cuts_rows(k, gradient)) {
    return false;
  }
  const FloatResult sums(k.output(), k.workspace());
  const auto sum = [&](auto* to) {
    sum_rows(gradient.dtype, bytes_of(gradient), rows_of(gradient), gradient.shape.back(),
             k.microbatch_count(), k.per_microbatch(), to);
  };
  wide ? sum(static_cast<double*>(sums.values())) : sum(sums.data());
  sums.store();
  return true;
}

const RegisterKernel<Linear, linear_kernel> register_linear{DeviceType::cpu};
const RegisterKernel<LinearBackwardInput, grad_input_kernel> register_linear_backward_input{
    DeviceType::cpu};
const RegisterKernel<LinearBackwardWeight, grad_weight_kernel, bytes_of_sums>
    register_linear_backward_weight{DeviceType::cpu};
const RegisterKernel<LinearBackwardBias, grad_bias_kernel, bytes_of_sums>
    register_linear_backward_bias{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
