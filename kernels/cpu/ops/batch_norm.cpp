#include <tessera/core/ops/batch_norm.h>

#include <optional>

#include <tessera/kernels/cpu/batch_norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

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
  const bool wide = dtype_of<Number> == DType::f64;
  return is_factor(x.dtype, dtype_of<Number>) && are_factors(k, first, dtype_of<Number>) &&
         (wide ? has_f64_outputs(k) : has_fast_outputs(k)) && x.numel() > 0;
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
